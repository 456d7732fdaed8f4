// Cursors and zoom for time series. Without this script their drawings stand as they are.
(() => {
  "use strict";
  const DASHES = { "dash-1": [7, 3], "dash-2": [2, 3], "dash-3": [9, 3, 2, 3], upper: [5, 4] };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  const columns = (text) => {
    const [names, ...rows] = text.trim().split("\n").map((row) => row.split(","));
    return { names, data: names.map((_, at) => rows.map((row) => (row[at] === "" ? null : Number(row[at])))) };
  };

  const axis = (title) => ({
    label: title, labelSize: 18, labelFont: "12px system-ui, sans-serif", font: "11.5px system-ui, sans-serif", labelGap: 0,
    values: (_, all) => all.map((value) => (value == null ? null : value.toLocaleString("en-US").replaceAll(",", "\u202f"))),
    stroke: colour("muted"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), width: 1, size: 4 },
  });

  const isShown = (classes) => !classes.some((name) => tailrace.hidden.has(name));

  const series = (names, styles) => names.slice(1).map((name, at) => {
    const classes = styles[at].split(" ");
    const thin = classes.includes("thin");
    return {
      label: name, stroke: colour(classes[0]) + (thin ? "80" : ""), width: thin ? 1 : 2, spanGaps: false, show: isShown(classes),
      dash: thin ? undefined : classes.map((one) => DASHES[one]).findLast(Boolean),
      points: { show: false }, value: (_, value) => (value == null ? "–" : value.toPrecision(3)),
    };
  });

  // Values under the cursor, above the chart: medians only, the thin lines are there for the eye.
  const readout = (chart) => {
    const at = chart.cursor.idx;
    const line = chart.root.parentElement.previousElementSibling;
    line.replaceChildren();
    if (at == null) return;
    line.append(`${chart.data[0][at].toPrecision(3)} s`);
    chart.series.forEach((one, index) => {
      const value = chart.data[index][at];
      if (index === 0 || one.width < 2 || !one.show || value == null) return;
      const cell = document.createElement("b");
      cell.style.setProperty("--colour", one.stroke());
      cell.textContent = `${one.label} ${value.toPrecision(3)}`;
      line.append(cell);
    });
  };

  const scale = (place) => place.dataset.log
    ? { distr: 3 }
    : { range: (_, low, high) => [0, (place.dataset.highest ? +place.dataset.highest : high || 1) * 1.04] };

  // The drawing without scripts stays for print; on the screen the live chart takes its place.
  const draw = (place) => {
    const { names, data } = columns(document.getElementById(place.dataset.csv).textContent);
    const options = {
      width: place.clientWidth, height: +place.dataset.height, legend: { show: false }, hooks: { setCursor: [readout] }, padding: [6, 12, 0, 0],
      cursor: { drag: { x: true, y: false }, points: { size: 6 }, sync: { key: place.dataset.sync } },
      scales: { x: { time: false }, y: scale(place) },
      axes: [{ ...axis("time, s"), size: 34 }, { ...axis(""), size: 58, labelSize: 0 }],
      series: [{ label: "time, s", value: (_, value) => (value == null ? "–" : value.toPrecision(4)) },
               ...series(names, place.dataset.styles.split(","))],
    };
    place.replaceChildren();
    place.chart = new uPlot(options, data, place);
  };

  const live = [...document.querySelectorAll(".live")];
  live.forEach((place) => {
    place.hidden = false;
    place.style.height = `${place.dataset.height}px`;
    place.parentElement.querySelector(`.static[data-for="${place.dataset.csv}"]`).style.display = "none";
    // What is folded has no width: it is drawn when it is unfolded.
    new ResizeObserver(() => {
      const width = place.clientWidth;
      if (width && !place.chart) draw(place);
      else if (width && width !== place.chart.width) place.chart.setSize({ width, height: +place.dataset.height });
    }).observe(place);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => live.filter((place) => place.chart).forEach(draw));
  tailrace.changed.push(() => live.filter((place) => place.chart).forEach((place) => place.dataset.styles.split(",").forEach((style, at) => {
    place.chart.setSeries(at + 1, { show: isShown(style.split(" ")) });
  })));
})();
