// The page stands without this script. It adds cursors and zoom to time series, tables of their data, and CSV downloads.
(() => {
  "use strict";
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const cells = (text) => text.trim().split("\n").map((row) => row.split(","));

  const columns = (text) => {
    const [names, ...rows] = cells(text);
    return { names, data: names.map((_, at) => rows.map((row) => (row[at] === "" ? null : Number(row[at])))) };
  };

  const axis = (title) => ({
    label: title, labelSize: 18, labelFont: "12px system-ui, sans-serif", font: "11.5px system-ui, sans-serif", labelGap: 0,
    stroke: colour("muted"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), width: 1, size: 4 },
  });

  const series = (names, styles) => names.slice(1).map((name, at) => {
    const [style, thin] = styles[at].split(" ");
    return {
      label: name, stroke: colour(style) + (thin ? "80" : ""), width: thin ? 1 : 2, spanGaps: false,
      points: { show: false }, value: (_, value) => (value == null ? "–" : value.toPrecision(3)),
    };
  });

  // Values under the cursor, above the chart: medians only, the thin lines are there for the eye.
  const readout = (chart) => {
    const at = chart.cursor.idx;
    const line = chart.root.closest("figure").querySelector(".readout");
    line.replaceChildren();
    if (at == null) return;
    line.append(`${chart.data[0][at].toPrecision(3)} s`);
    chart.series.forEach((one, index) => {
      const value = chart.data[index][at];
      if (index === 0 || one.width < 2 || value == null) return;
      const cell = document.createElement("b");
      cell.style.setProperty("--colour", one.stroke());
      cell.textContent = `${one.label} ${value.toPrecision(3)}`;
      line.append(cell);
    });
  };

  // The drawing without scripts stays for print; on the screen the live chart takes its place.
  const draw = (place) => {
    const { names, data } = columns(document.getElementById(place.dataset.csv).textContent);
    const options = {
      width: place.clientWidth, height: 240, legend: { show: false }, hooks: { setCursor: [readout] }, padding: [6, 12, 0, 0], cursor: { drag: { x: true, y: false }, points: { size: 6 } },
      scales: { x: { time: false }, y: { range: (_, low, high) => [0, place.dataset.highest ? +place.dataset.highest * 1.04 : (high || 1) * 1.04] } },
      axes: [{ ...axis("time, s"), size: 34 }, { ...axis(""), size: 44, labelSize: 0 }],
      series: [{ label: "time, s", value: (_, value) => (value == null ? "–" : value.toPrecision(4)) },
               ...series(names, place.dataset.styles.split(","))],
    };
    place.replaceChildren();
    place.chart = new uPlot(options, data, place);
  };

  const live = [...document.querySelectorAll(".live")];
  const redraw = () => live.forEach(draw);
  live.forEach((place) => {
    place.hidden = false;
    place.parentElement.querySelector(".static").style.display = "none";
    draw(place);
    new ResizeObserver(() => {
      const width = place.clientWidth;
      if (place.chart && width && width !== place.chart.width) place.chart.setSize({ width, height: 240 });
    }).observe(place);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  const table = (text) => {
    const [names, ...rows] = cells(text);
    const made = document.createElement("table");
    const add = (parent, kind, row) => {
      const line = parent.insertRow();
      row.forEach((cell) => line.appendChild(document.createElement(kind)).textContent = cell);
    };
    add(made.createTHead(), "th", names);
    const body = made.createTBody();
    rows.forEach((row) => add(body, "td", row));
    return made;
  };

  const save = (text, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // The text is the one copy of a chart's data; it becomes a table when someone asks for it.
  document.querySelectorAll("details.data").forEach((details) => {
    const pre = details.querySelector("pre");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Download CSV";
    button.addEventListener("click", () => save(pre.textContent.trim() + "\n", `${pre.id}.csv`));
    details.appendChild(button);
    details.addEventListener("toggle", () => {
      if (details.open && !pre.hidden) {
        pre.after(table(pre.textContent));
        pre.hidden = true;
      }
    });
  });
})();
