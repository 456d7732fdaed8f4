// Every drawing as SVG and PNG, every table as CSV, from what the page holds; and the data of charts as tables.
(() => {
  "use strict";
  const PAINT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight"];
  const SVG = "http://www.w3.org/2000/svg";
  const TITLE_PX = 22, ROW_PX = 18, CHARACTER_PX = 7;
  const PNG_SCALE = 2;

  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const csv = (text, name) => save(new Blob([text], { type: "text/csv" }), `${name}.csv`);
  const slug = (text) => text.trim().toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
  const button = (text, hint, act) => {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", textContent: text, title: hint });
    made.addEventListener("click", act);
    return made;
  };

  const make = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // What style sheets give to an element, written into its copy; what is hidden is left out.
  const paint = (from, to) => {
    const style = getComputedStyle(from);
    PAINT.forEach((name) => to.style.setProperty(name, style.getPropertyValue(name)));
    [...from.children].map((child, at) => [child, to.children[at]]).forEach(([child, copy]) => {
      if (getComputedStyle(child).display === "none") copy.remove();
      else paint(child, copy);
    });
  };

  const words = (made, at, y, text, kind = "") => {
    const style = getComputedStyle(document.body);
    const css = getComputedStyle(document.documentElement);
    const fill = css.getPropertyValue(kind === "title" ? "--ink" : "--muted").trim();
    made.append(make("text", { x: at, y, fill, "font-family": style.fontFamily, "font-size": kind === "title" ? 13 : 12,
      "font-weight": kind === "title" ? 600 : 400, "text-anchor": kind === "end" ? "end" : "start" }, text));
  };

  // The legend that stands above the drawing: its lines as they look on the page, without what is hidden.
  const legend = (made, plot, y, width) => {
    const keys = [...plot.closest("section, main").querySelectorAll(".key")];
    const key = keys.filter((one) => one.compareDocumentPosition(plot) & Node.DOCUMENT_POSITION_FOLLOWING).pop();
    let x = 8;
    for (const item of key ? key.children : []) {
      if (item.getAttribute("aria-pressed") === "false") continue;
      const text = item.textContent.trim();
      const room = 26 + text.length * CHARACTER_PX + 14;
      if (x + room > width && x > 8) { x = 8; y += ROW_PX; }
      const mark = getComputedStyle(item.querySelector("i"));
      const dash = { dashed: "6 3", dotted: "2 3", double: "8 3 2 3" }[mark.borderTopStyle];
      const isBox = mark.borderTopWidth === "0px";
      made.append(make("line", { x1: x, x2: x + (isBox ? 12 : 18), y1: y - 4, y2: y - 4, "stroke-width": isBox ? 9 : 3,
        stroke: isBox ? mark.backgroundColor : mark.borderTopColor, ...(dash && !isBox ? { "stroke-dasharray": dash } : {}) }));
      words(made, x + 24, y, text);
      x += room;
    }
    return x > 8 ? y + ROW_PX : y;
  };

  const drawing = (plot) => {
    const holder = plot.closest("figure") || plot.parentElement;
    const about = plot.closest("[data-for]");
    const [top, right, bottom, left] = ["top", "right", "bottom", "left"].map((side) => parseFloat(plot.style.getPropertyValue(`padding-${side}`)) || 0);
    const source = plot.querySelector("svg");
    const width = Math.max(320, plot.clientWidth || holder.clientWidth);
    const made = make("svg", { xmlns: SVG, width });
    const surface = getComputedStyle(document.documentElement).getPropertyValue("--surface").trim();
    made.append(make("rect", { width: "100%", height: "100%", fill: surface }));
    words(made, 8, 16, caption(plot), "title");
    let y = legend(made, plot, TITLE_PX + 12, width);
    const titles = about ? about.dataset : { y: holder.querySelector(".y-title")?.textContent, x: holder.querySelector(".x-title")?.textContent };
    if (titles.y) { words(made, 8, y, titles.y); y += 4; }
    const inner = make("svg", { x: left, y: y + top, width: width - left - right, height: source.getAttribute("height"), overflow: "visible" });
    const copy = source.cloneNode(true);
    paint(source, copy);
    inner.append(...copy.childNodes);
    made.append(inner);
    let height = y + top + parseFloat(source.getAttribute("height")) + bottom;
    if (titles.x) { words(made, width - right, height + 12, titles.x, "end"); height += ROW_PX; }
    made.setAttribute("height", height);
    made.setAttribute("viewBox", `0 0 ${width} ${height}`);
    return made;
  };

  const caption = (plot) => {
    const holder = plot.closest("figure");
    const own = holder?.querySelector("figcaption")?.textContent;
    const above = [...plot.closest("section, main").querySelectorAll("h2, h3")]
      .filter((one) => one.compareDocumentPosition(plot) & Node.DOCUMENT_POSITION_FOLLOWING).pop()?.textContent;
    const titles = holder && !holder.querySelector("figcaption small") ? holder.querySelectorAll(".y-title") : [];
    const what = titles.length === 1 ? titles[0].textContent : "";
    return [above, own, own && above !== own ? what.split(",")[0] : ""].filter(Boolean).join(": ");
  };
  const text = (made) => new XMLSerializer().serializeToString(made);
  const name = (plot) => slug(`${document.querySelector("h1").textContent} ${caption(plot)}`);

  const saveSvg = (plot) => save(new Blob([text(drawing(plot))], { type: "image/svg+xml" }), `${name(plot)}.svg`);
  const savePng = (plot) => {
    const made = drawing(plot);
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = image.width * PNG_SCALE;
      canvas.height = image.height * PNG_SCALE;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, `${name(plot)}.png`), "image/png");
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text(made))}`;
  };

  // Of two drawings of one figure (linear, tail) the one that is shown.
  const shown = (plots) => plots.find((plot) => plot.closest(".static") || plot.offsetParent !== null) || plots[0];
  const figures = new Map();
  document.querySelectorAll(".plot").forEach((plot) => {
    const holder = plot.closest("[data-for]") || plot.closest("figure") || plot.parentElement;
    figures.set(holder, [...(figures.get(holder) || []), plot]);
  });
  figures.forEach((plots, holder) => {
    const row = document.createElement("p");
    row.className = "export";
    row.append("Save as ", button("SVG", "this drawing", () => saveSvg(shown(plots))), button("PNG", "this drawing", () => savePng(shown(plots))));
    const data = holder.dataset.for ? document.getElementById(holder.dataset.for) : holder.querySelector("details.data pre");
    if (data) row.append(button("CSV", "the data of this drawing", () => csv(`${data.textContent.trim()}\n`, data.id)));
    const details = data?.closest("details");
    if (details) details.before(row);
    else if (holder.tagName === "FIGURE") holder.append(row);
    else plots[plots.length - 1].after(row);
  });

  const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const cell = (one) => (one.dataset.label ?? one.textContent).replace(/\s+/g, " ").trim();
  const rows = (table) => [...table.rows].filter((row) => getComputedStyle(row).display !== "none")
    .map((row) => [...row.cells].filter((one) => getComputedStyle(one).display !== "none").flatMap((one) => [cell(one), ...Array(one.colSpan - 1).fill("")]).map(quoted).join(",")).join("\n");
  document.querySelectorAll(".scroll > table").forEach((table, at) => {
    const place = table.closest("section")?.id || "table";
    const row = document.createElement("p");
    row.className = "export";
    row.append(button("Table as CSV", "the rows that are shown", () => csv(`${rows(table)}\n`, `${place}-${at + 1}`)));
    table.parentElement.after(row);
  });

  // The text is the one copy of a chart's data; it becomes a table when someone asks for it.
  const table = (source) => {
    const [names, ...lines] = source.trim().split("\n").map((row) => row.split(","));
    const made = document.createElement("table");
    const add = (parent, kind, row) => {
      const line = parent.insertRow();
      row.forEach((one) => { line.appendChild(document.createElement(kind)).textContent = one; });
    };
    add(made.createTHead(), "th", names);
    const body = made.createTBody();
    lines.forEach((row) => add(body, "td", row));
    return made;
  };
  document.querySelectorAll("details.data").forEach((details) => {
    const pre = details.querySelector("pre");
    details.addEventListener("toggle", () => {
      if (details.open && !pre.hidden) {
        pre.after(table(pre.textContent));
        pre.hidden = true;
      }
    });
  });
})();
