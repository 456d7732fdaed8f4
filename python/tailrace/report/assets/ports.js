// The list of ports: words typed into the box filter it by name, a choice orders it. Without this script the first rows stand.
const ports = (() => {
  "use strict";
  const ORDERS = {
    drops: (a, b) => b.drops - a.drops || b.peak - a.peak || b.busy - a.busy,
    queue: (a, b) => b.peak - a.peak || b.drops - a.drops || b.busy - a.busy,
    busy: (a, b) => b.busy - a.busy || b.drops - a.drops || b.peak - a.peak,
    name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }),
  };

  // Rows as objects, each with the name that is searched.
  const rowsOf = (data, arm) => data.arms[arm].rows.map(([node, towards, drops, peak, busy]) =>
    ({ name: `${data.nodes[node]} → ${towards}`, key: `${data.nodes[node]}>${towards}`.toLowerCase(), drops, peak, busy }));

  // Every word must stand in the name; `leaf1>h3` and `leaf1 → h3` are the port as this report and scenarios write it.
  const matching = (rows, query) => {
    const words = query.toLowerCase().replace(/\s*(→|>)\s*/g, ">").split(/\s+/).filter(Boolean);
    return rows.filter((row) => words.every((word) => row.key.includes(word)));
  };
  const ordered = (rows, order) => [...rows].sort((a, b) => ORDERS[order](a, b) || ORDERS.name(a, b));

  const count = (value) => (value >= 10 || Number.isInteger(value) ? Math.round(value).toLocaleString("en-US").replaceAll(",", "\u202f") : value.toFixed(1));
  const bytes = (value) => {
    const power = value < 1 ? 0 : Math.min(4, Math.floor(Math.log10(value) / 3 + 1e-9));
    const scaled = value / 1000 ** power;
    return `${scaled >= 999.5 ? count(scaled) : value ? scaled.toPrecision(3) : 0} ${["B", "kB", "MB", "GB", "TB"][power]}`;
  };
  const told = (found, shown, all, omitted) => {
    const of = found === all ? `${count(all)} ports` : `${count(found)} of ${count(all)} ports`;
    const left = omitted ? `; ${count(omitted)} with fewer drops are not in this page` : "";
    return `${of}${shown < found ? `, the first ${count(shown)} shown` : ""}${left}`;
  };
  return { rowsOf, matching, ordered, count, bytes, told };
})();
if (typeof module !== "undefined") module.exports = ports;
if (typeof document !== "undefined" && document.getElementById("port-data")) (() => {
  "use strict";
  const FIRST = 20, MORE = 200;
  const data = JSON.parse(document.getElementById("port-data").textContent);
  const place = document.getElementById("ports"), controls = place.querySelector(".port-search");
  const [box, arm, order] = ["input", ".port-arm", ".port-order"].map((name) => controls.querySelector(name));
  const [status, more, table] = [".port-status", ".port-more", "table"].map((name) => place.querySelector(name));
  const lists = new Map();
  let shown = FIRST;

  const cell = (kind, text, name) => Object.assign(document.createElement(kind), { textContent: text, className: name ?? "" });
  const show = () => {
    if (!lists.has(arm.value)) lists.set(arm.value, ports.rowsOf(data, arm.value));
    const all = lists.get(arm.value);
    const found = ports.ordered(ports.matching(all, box.value), order.value);
    const rows = found.slice(0, shown).map((one) => {
      const row = document.createElement("tr"), name = cell("th", one.name, "text");
      name.scope = "row";
      row.append(name, cell("td", ports.count(one.drops)), cell("td", ports.bytes(one.peak)), cell("td", `${one.busy.toFixed(1)} %`));
      return row;
    });
    table.tBodies[0].replaceChildren(...rows);
    status.textContent = found.length ? ports.told(found.length, rows.length, all.length, +place.dataset.omitted) : `no port of ${ports.count(all.length)} has this name`;
    more.hidden = rows.length === found.length;
  };
  const again = () => { shown = FIRST; show(); };

  // The table without scripts has a column for the arm, which is a choice now.
  table.tHead.rows[0].querySelector(".port-of-arm").remove();
  controls.hidden = false;
  box.addEventListener("input", again);
  [arm, order].forEach((one) => one.addEventListener("change", again));
  more.addEventListener("click", () => { shown += MORE; show(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target === box) { box.value = ""; again(); }
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    place.querySelector("details").open = true;
    box.focus();
  });
  show();
})();
