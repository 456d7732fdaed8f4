// The page: knobs, runs in workers, table and drawings.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const make = (tag, attributes = {}, ...children) => {
    const node = tag.includes(":") ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== false && value !== null) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  };
  const data = JSON.parse($("data").textContent);
  const TRIALS_MAX = Math.min(12, data.seeds.length);
  const PRECISE = 0.03; // from a figure to an end of its interval, against the figure
  const LONG_S = 60; // runs that take longer are asked for first
  const start = core.fromFragment(data, location.hash);
  let positions = start.positions;
  let pinned = Object.fromEntries(data.knobs.map((knob) => [knob.path, knob.start]));
  const past = [];
  const results = new Map(); // by positions: {arm: [{size, figures, outcome, tables}]}
  let shown = null; // the workload whose latencies are drawn

  const keyOf = (where) => JSON.stringify(data.knobs.map((knob) => where[knob.path]));
  const KEPT_MAX = 40; // positions whose results are kept: the latest ones
  const found = (where) => {
    const key = keyOf(where);
    for (const old of results.keys()) {
      if (results.size < KEPT_MAX) break;
      if (old !== keyOf(positions) && old !== keyOf(pinned)) results.delete(old);
    }
    if (!results.has(key)) results.set(key, { quick: {}, full: Object.fromEntries(data.arms.map((arm) => [arm, []])), refused: {} });
    return results.get(key);
  };

  // --- Runs: one worker per free core; what is not wanted any more ends with its worker. ---
  let module = null;
  const workers = [];
  let jobs = [];
  let number = 0;
  let quickMs = 0;
  let isStopped = false;
  let isRefused = false;
  let mayBeLong = false;
  const say = (words) => { $("status").textContent = words; };

  const spawn = (worker) => {
    worker.self = new Worker(URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" })));
    worker.job = null;
    worker.self.onmessage = ({ data: message }) => hear(worker, message);
    worker.self.onerror = (event) => { fail(worker, event.message); };
    worker.self.postMessage({ module });
  };
  const hear = (worker, message) => {
    if (message.ready) return next(worker);
    const job = worker.job;
    if (!job || message.number !== job.number) return;
    if ("progress" in message) { job.progress = message.progress; return showProgress(); }
    worker.job = null;
    if (message.failed) { job.fail(message.failed); worker.self.terminate(); spawn(worker); }
    else job.done(message.answer, performance.now() - job.began);
    next(worker);
  };
  const fail = (worker, words) => { const job = worker.job; worker.self.terminate(); spawn(worker); if (job) job.fail(words); };
  const next = (worker) => {
    if (worker.job || !module) return;
    // The first worker keeps itself free for short runs: the first answer to a move waits for no whole trial.
    const at = worker === workers[0] && workers.length > 1 ? jobs.findIndex((one) => one.size === "quick") : 0;
    const [job] = at < 0 ? [] : jobs.splice(at, 1);
    if (!job) { if (!jobs.length && workers.every((one) => !one.job)) rest(); return; }
    worker.job = job;
    job.began = performance.now();
    job.progress = 0;
    try { worker.self.postMessage({ number: job.number, plan: core.textOf(job.plan(), data.seeds[job.trial - 1], data.name) }); }
    catch (error) { worker.job = null; job.fail(String(error.message || error)); next(worker); }
  };
  const cancel = () => {
    jobs = [];
    for (const worker of workers) if (worker.job) { worker.self.terminate(); spawn(worker); }
  };
  const enqueue = (where, size, arm, trial, first = false) => {
    const here = found(where);
    const job = {
      number: ++number, arm, trial, size,
      plan: () => core.planOf(data, size, arm, where),
      fail: (words) => { here.refused[arm] = words; draw(); },
      done: (answer, ms) => {
        if (answer.refused) { here.refused[arm] = answer.refused; jobs = jobs.filter((one) => one.arm !== arm); return draw(); }
        const kept = { figures: core.figures(answer.outcome), outcome: answer.outcome, tables: answer.tables, ms };
        if (size === "quick") { here.quick[arm] = kept; quickMs = Math.max(quickMs, ms); }
        else here.full[arm][trial - 1] = kept;
        draw();
      },
    };
    if (first) jobs.unshift(job); else jobs.push(job);
  };
  const scaleOf = (size) => data.sizes.find((one) => one.name === size).scale;
  // What is left to do for the positions that are shown, and for those that are compared with.
  const plan = () => {
    cancel();
    isStopped = false;
    const targets = keyOf(positions) === keyOf(pinned) ? [positions] : [positions, pinned];
    for (const where of targets) for (const arm of data.arms) if (!found(where).quick[arm] && !found(where).refused[arm]) enqueue(where, "quick", arm, 1);
    for (let trial = 1; trial <= 2; trial++) longer(targets, trial);
    workers.forEach(next);
    draw();
  };
  const longer = (targets, trial) => {
    for (const where of targets) for (const arm of data.arms) {
      const here = found(where);
      if (!here.full[arm][trial - 1] && !here.refused[arm]) enqueue(where, "full", arm, trial);
    }
  };
  const expectedS = () => (quickMs / 1000) * (scaleOf("full") / scaleOf("quick"));
  const rest = () => {
    if (isRefused) return; // what was said about it stays
    const here = found(positions);
    const arms = data.arms.filter((arm) => !here.refused[arm]);
    const done = arms.length ? Math.min(...arms.map((arm) => here.full[arm].filter(Boolean).length)) : TRIALS_MAX;
    const targets = keyOf(positions) === keyOf(pinned) ? [positions] : [positions, pinned];
    if (!isStopped && done < TRIALS_MAX && !isSettled(here, arms)) { longer(targets, done + 1); if (jobs.length) { workers.forEach(next); return; } }
    const trials = `${done} trial${done === 1 ? "" : "s"}`;
    say(!arms.length ? "No arm can be simulated like this." : isStopped ? `Stopped after ${trials}.` : done >= TRIALS_MAX ? `Done: ${trials}, the most that this page runs.` : `Done: ${trials}; every interval that so many can have is below ±${PRECISE * 100} %.`);
    $("progress").value = 1;
  };
  // Figures that have an interval have a short one, and every comparison is decided, or of arms that are the same within it.
  const isSettled = (here, arms) => arms.every((arm) => rowsOf(here).every((row) => {
    const one = figureOf(here, arm, row);
    return one.value === null || one.isBound || one.needed > TRIALS_MAX || (one.interval && core.isWithin(one.interval, one.value, PRECISE));
  })) && compared().every((one) => one.p < statistics.SIGNIFICANCE || one.change.ratio === null || one.needed > TRIALS_MAX || (one.change.interval && core.isWithin(one.change.interval, 1, PRECISE)));
  const showProgress = () => {
    const busy = workers.map((worker) => worker.job).filter(Boolean);
    const open = jobs.length + busy.reduce((sum, job) => sum + 1 - job.progress, 0);
    const job = busy[0];
    if (!job) return;
    say(job.size === "quick" ? `A short run of ${job.arm} …` : `Trial ${job.trial} of ${job.arm} …`);
    $("progress").value = 1 - open / (open + 1 + Object.values(found(positions).full).flat().filter(Boolean).length);
  };

  // --- Positions ---
  const move = (path, at) => {
    if (positions[path] === at) return;
    past.push({ ...positions });
    const knob = data.knobs.find((one) => one.path === path);
    positions = values.isShare(knob) ? values.balanced(data, knob, at, positions) : { ...positions, [path]: at };
    changed();
  };
  // A typed value; what it cannot be is said beside the knob, and the box shows the present value again.
  const enter = (knob, text, control) => {
    const found = values.typed(data, knob, text);
    control.setAttribute("aria-invalid", String("words" in found));
    typos[knob.path] = found.words || "";
    if (!found.words) move(knob.path, found.at);
    changed();
    control.value = values.textOf(knob, positions[knob.path]);
  };
  const typos = {};
  const forget = () => { for (const path of Object.keys(typos)) typos[path] = ""; };
  let waiting = 0;
  const changed = () => {
    history.replaceState(null, "", `#${core.toFragment(data, positions)}`);
    const refusals = values.refusals(data, positions);
    for (const knob of data.knobs.filter((one) => !one.drawn)) {
      const text = values.textOf(knob, positions[knob.path]);
      const [input, output, note] = ["knob", "value", "note"].map((name) => $(`${name}-${knob.path}`));
      if (values.isSwitch(knob)) input.checked = text === "true";
      else { input.value = values.placeOf(knob, positions[knob.path]); input.setAttribute("aria-valuetext", text); }
      if (values.isSwitch(knob)) output.textContent = text === "true" ? "on" : "off";
      else if (output.tagName === "INPUT") output.value = text; else output.textContent = text;
      output.classList.toggle("moved", positions[knob.path] !== knob.start);
      note.textContent = [typos[knob.path], ...refusals.filter((one) => one.paths.includes(knob.path)).map((one) => one.words)].filter(Boolean).join(". ");
    }
    const drawn = data.knobs.filter((knob) => knob.drawn);
    const told = [...refusals.filter((one) => one.paths.some((path) => drawn.some((knob) => knob.path === path))).map((one) => one.words), ...drawn.map((knob) => typos[knob.path]).filter(Boolean)];
    $("refused-drawn").replaceChildren(...told.map((words) => make("p", {}, words)));
    if (policies) policies.draw(positions);
    $("undo").disabled = past.length === 0;
    clearTimeout(waiting);
    waiting = 0;
    isRefused = refusals.length > 0;
    if (isRefused) { cancel(); say("Move what is refused; the table shows the last positions that could be simulated."); return; }
    waiting = setTimeout(() => { waiting = 0; plan(); }, 20);
  };
  const knobs = () => {
    const listed = data.knobs.filter((knob) => !knob.drawn);
    for (const knob of listed) {
      const id = `knob-${knob.path}`, output = `value-${knob.path}`, note = `note-${knob.path}`;
      const placed = { id, "data-path": knob.path, "aria-describedby": note };
      const input = values.isSwitch(knob)
        ? make("input", { type: "checkbox", role: "switch", ...placed, onchange: (event) => move(knob.path, knob.texts.indexOf(String(event.target.checked))) })
        : make("input", { type: "range", min: 0, max: knob.texts.length - 1, step: 1, value: values.placeOf(knob, positions[knob.path]), ...placed, oninput: (event) => { typos[knob.path] = ""; move(knob.path, Number(event.target.value)); } });
      const text = values.textOf(knob, positions[knob.path]);
      const value = knob.number
        ? make("input", { type: "text", id: output, class: "edit", inputmode: "decimal", autocomplete: "off", spellcheck: "false", value: text, "aria-label": `${knob.label.join(" ")}, ${knob.number.low} to ${knob.number.high}`, title: `${knob.number.low} to ${knob.number.high}`, onchange: (event) => enter(knob, event.target.value, event.target) })
        : make("output", { id: output, for: id, title: knob.why ? `Only positions: ${knob.why}` : "Only positions" }, text);
      $("knobs").append(make("div", { class: values.isSwitch(knob) ? "knob switched" : "knob" }, make("label", { for: id, title: knob.path }, knob.label[0], " ", make("b", {}, knob.label[1])), value, input, make("p", { class: "refused", id: note, role: "alert" })));
    }
    if (!listed.length) $("knobs").append(make("p", {}, "Nothing of this scenario has a slider here; name values under whatif.knobs, or edit the policies below."));
  };

  // --- What one sees ---
  const rowsOf = (here) => {
    const rows = new Map();
    for (const arm of data.arms) for (const kept of [here.quick[arm], ...here.full[arm]].filter(Boolean))
      for (const row of kept.figures) rows.set(`${row.workload}/${row.metric}`, { workload: row.workload, metric: row.metric });
    return [...rows.values()];
  };
  // Of whole trials, or of the short run before there are any.
  const outcomesOf = (here, arm) => {
    const whole = here.full[arm].filter(Boolean);
    return (whole.length ? whole : [here.quick[arm]].filter(Boolean)).map((kept) => kept.outcome);
  };
  const figureOf = (here, arm, row) => { const own = outcomesOf(here, arm); return core.once(here, `${arm}/${row.workload}/${row.metric}`, own, () => core.figure(own, row)); };
  // The metric by which a workload is compared: the first choice of its kind that the table has.
  const isMain = (rows, row) => (data.main[row.workload] || []).find((key) => rows.some((one) => one.workload === row.workload && one.metric === key)) === row.metric;
  // Every comparison of the table, with the p values of main figures adjusted for their number; the others are only described.
  const compared = () => {
    const here = found(positions), before = found(pinned), isMoved = keyOf(positions) !== keyOf(pinned), rows = rowsOf(here);
    const pairs = rows.flatMap((row) => [
      ...data.arms.filter((arm) => arm !== data.baseline).map((arm) => ({ row, arm, against: data.baseline, from: here })),
      ...(isMoved ? data.arms.map((arm) => ({ row, arm, against: arm, from: before })) : []),
    ]);
    const mains = pairs.filter((one) => isMain(rows, one.row));
    for (const one of pairs) {
      const first = outcomesOf(one.from, one.against), second = outcomesOf(here, one.arm), count = Math.min(first.length, second.length), is = mains.includes(one);
      const name = `${one.arm}/${one.against}/${one.from === here ? "" : keyOf(pinned)}/${one.row.workload}/${one.row.metric}/${mains.length}`;
      Object.assign(one, core.once(here, name, [...first.slice(0, count), ...second.slice(0, count)], () => {
        const [from, to] = [first, second].map((all) => core.figure(all.slice(0, count), one.row));
        return { count, change: core.change(from, to), needed: Math.max(from.needed || 0, to.needed || 0), raw: is ? core.pOf(first, second, one.row, mains.length) : 1 };
      }));
      one.p = 1;
    }
    statistics.holm(mains.map((one) => one.raw)).forEach((p, at) => { mains[at].p = p; });
    return pairs.map((one) => ({ ...one, isMain: mains.includes(one), tests: mains.length }));
  };
  const table = () => {
    const here = found(positions), before = found(pinned), isMoved = keyOf(positions) !== keyOf(pinned);
    const rows = rowsOf(here), all = compared();
    const head = make("tr", {}, make("th", { class: "text", scope: "col" }, "workload"), ...data.arms.map((arm, at) => make("th", { scope: "col" }, make("span", { class: "arm", style: `--colour:var(--arm-${at % 6})` }, arm))));
    const body = make("tbody");
    let last = null;
    for (const row of rows) {
      const metric = core.METRICS.find((one) => one.key === row.metric);
      const line = make("tr", {}, make("th", { class: "text", scope: "row" }, row.workload === last ? make("span", { class: "again" }, row.workload) : row.workload, " ", make("small", {}, metric.name)));
      last = row.workload;
      data.arms.forEach((arm) => {
        const one = figureOf(here, arm, row), isShort = !here.full[arm].some(Boolean);
        const cell = make("td", { "data-label": arm, style: `--colour:var(--arm-${data.arms.indexOf(arm) % 6})`, ...(isShort ? { class: "short", title: "from a short run" } : {}) }, make("span", { class: "figure" }, core.figureText(one, metric.unit)), isShort ? "" : make("small", {}, core.intervalText(one, metric.unit)));
        for (const other of all.filter((own) => own.row.workload === row.workload && own.row.metric === row.metric && own.arm === arm)) {
          const old = figureOf(before, arm, row);
          const tone = core.toneOf(other, metric), sign = core.SIGNS[tone];
          const words = other.from === here ? `${sign}${core.changeText(other)} against ${data.baseline}` : old.value === null ? "before –" : `before ${core.figureText(old, metric.unit)}: ${sign}${core.changeText(other)}`;
          if (other.from !== here || other.change.ratio !== null) cell.append(make("small", { class: `effect ${tone}` }, words));
        }
        line.append(cell);
      });
      body.append(line);
    }
    const mains = all.filter((one) => one.isMain && one.change.ratio !== null), open = mains.filter((one) => one.p >= statistics.SIGNIFICANCE).length, count = mains.length ? Math.min(...mains.map((one) => one.count)) : 0;
    const told = mains.length && data.arms.some((arm) => here.full[arm].some(Boolean)) ? ` ✓ better, ✗ worse, = no significant difference, ? too few trials; without a sign not tested. Judged after ${statistics.LOOKS.join(", ")} trials as in tailrace run; ${open} of ${mains.length} are undecided after ${count} trial${count === 1 ? "" : "s"}.` : "";
    $("table").replaceChildren(make("caption", {}, isMoved ? "Now, and before" : "Now"), make("thead", {}, head), body);
    $("judged").textContent = told.trim();
    const refused = Object.entries(here.refused);
    $("refusals").replaceChildren(...refused.map(([arm, words]) => make("p", {}, make("strong", {}, `${arm} cannot be simulated like this: `), words)));
    $("refusals").hidden = refused.length === 0;
  };
  const bestOf = (here, arm) => here.full[arm].filter(Boolean).at(-1) || here.quick[arm];
  const path = (points) => points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const W = 360, H = 190, L = 52, B = 24;
  const chart = (title, series, { x, y, xs, ys, isLog }) => {
    const all = series.flatMap((one) => one.points);
    const figure = make("figure", {}, make("figcaption", {}, title));
    if (!all.length) { figure.append(make("p", { class: "caption" }, "Nothing was recorded.")); return figure; }
    const lowX = isLog ? Math.min(...all.map((point) => point[0]).filter((value) => value > 0)) : 0, highX = Math.max(...all.map((point) => point[0])), highY = ys || Math.max(...all.map((point) => point[1]), 1e-12);
    const atX = (value) => L + (W - L - 8) * (isLog ? Math.log(Math.max(value, lowX) / lowX) / Math.max(Math.log(highX / lowX), 1e-9) : value / (highX || 1));
    const atY = (value) => 8 + (H - B - 8) * (1 - value / highY);
    const svg = make("svg:svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": title });
    for (const share of [0, 0.5, 1]) {
      svg.append(make("svg:line", { class: "grid", x1: L, x2: W - 8, y1: atY(share * highY), y2: atY(share * highY) }), make("svg:text", { class: "tick", x: L - 5, y: atY(share * highY) + 4, "text-anchor": "end" }, y(share * highY)));
      const value = isLog ? lowX * (highX / lowX) ** share : share * highX;
      svg.append(make("svg:text", { class: "tick", x: atX(value), y: H - 6, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle" }, x(value)));
    }
    for (const one of series) if (one.points.length) svg.append(make("svg:path", { class: `line arm-${one.arm % 6} ${one.isOld ? "old" : ""}`, d: path(one.points.map(([px, py]) => [atX(px), atY(py)])), fill: "none" }));
    figure.append(svg, xs ? make("p", { class: "x-title" }, xs) : "");
    return figure;
  };
  const distribution = (one) => {
    const total = one.latency.count;
    let sum = 0;
    const points = [];
    for (const [, upper, count] of one.latency.buckets.map((bucket) => (bucket.length === 3 ? bucket : [0, ...bucket]))) { sum += count; points.push([upper / 1e12, sum / total]); }
    return points;
  };
  const queueOf = (kept) => {
    const series = kept.tables.port_series;
    if (!series || !series.bin) return [];
    const sums = new Map();
    series.port.forEach((port, at) => sums.set(port, (sums.get(port) || 0) + series.queue_mean_bytes[at]));
    const busiest = [...sums.entries()].sort((one, other) => other[1] - one[1])[0];
    if (!busiest) return [];
    const points = [];
    series.port.forEach((port, at) => { if (port === busiest[0]) points.push([series.start_ps[at] / 1e12, series.queue_max_bytes[at]]); });
    const step = Math.max(1, Math.ceil(points.length / 300));
    return points.filter((_, at) => at % step === 0);
  };
  const plots = () => {
    const isMoved = keyOf(positions) !== keyOf(pinned);
    const sources = [[found(positions), false], ...(isMoved ? [[found(pinned), true]] : [])];
    const names = [...new Set(data.arms.flatMap((arm) => (bestOf(found(positions), arm) || { outcome: { workloads: [] } }).outcome.workloads.filter((one) => one.latency && one.latency.count).map((one) => one.name)))];
    if (!names.includes(shown)) shown = names[0] || null;
    const select = $("workload");
    select.replaceChildren(...names.map((name) => make("option", { value: name, selected: name === shown }, name)));
    select.parentElement.hidden = names.length < 2;
    const lines = (of) => sources.flatMap(([here, isOld]) => data.arms.map((arm, at) => ({ arm: at, isOld, points: bestOf(here, arm) ? of(bestOf(here, arm)) : [] })));
    const latency = lines((kept) => { const one = kept.outcome.workloads.find((other) => other.name === shown); return one && one.latency && one.latency.count ? distribution(one) : []; });
    $("plots").replaceChildren(
      chart(`Latency of ${shown || "–"}: cumulative share`, latency, { x: (v) => core.text(v, "s"), y: (v) => `${Math.round(v * 100)} %`, ys: 1, isLog: true, xs: "latency" }),
      chart("Longest queue of the busiest port", lines(queueOf), { x: (v) => (v ? core.text(v, "s") : "0"), y: (v) => (v ? core.text(v, "B") : "0"), xs: "time" }));
    $("key").replaceChildren(...data.arms.map((arm, at) => make("li", {}, make("i", { class: `dash-${Math.floor(at / 6) % 4}`, style: `--colour:var(--arm-${at % 6})` }), arm)), isMoved ? make("li", { class: "caption" }, "thin: before") : "");
    drops();
  };
  const drops = () => {
    const here = found(positions);
    const rows = new Map();
    data.arms.forEach((arm) => {
      const kept = bestOf(here, arm);
      for (const port of kept ? kept.outcome.ports : []) for (const queue of port.queues) for (const [cause, count] of Object.entries(queue.drops || {})) {
        const key = `${port.node}>${port.towards} ${queue.name}: ${cause}`;
        if (!rows.has(key)) rows.set(key, {});
        rows.get(key)[arm] = (rows.get(key)[arm] || 0) + (count.frames ?? count);
      }
    });
    const kept = [...rows.entries()].filter(([, by]) => Object.values(by).some((count) => count > 0)).slice(0, 12);
    $("drops").replaceChildren(make("caption", {}, kept.length ? "Dropped frames, in the latest trial" : "No frame was dropped in the latest trial"),
      ...(kept.length ? [make("thead", {}, make("tr", {}, make("th", { class: "text", scope: "col" }, "port and queue"), ...data.arms.map((arm) => make("th", { scope: "col" }, arm)))),
        make("tbody", {}, ...kept.map(([key, by]) => make("tr", {}, make("th", { class: "text", scope: "row" }, key), ...data.arms.map((arm) => make("td", {}, String(by[arm] || 0))))))] : []));
  };
  let policies = null; // the drawing of the policies
  const planOf = (arm) => { try { return core.planOf(data, "full", arm, positions); } catch { return null; } };
  let isDrawing = false;
  const draw = () => {
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => { isDrawing = false; table(); plots(); askIfLong(); });
  };
  const askIfLong = () => {
    if (mayBeLong || !quickMs || expectedS() < LONG_S || !jobs.some((job) => job.size === "full")) return;
    jobs = jobs.filter((job) => job.size === "quick");
    $("long").hidden = false;
    $("long-text").textContent = `A whole trial takes about ${core.text(expectedS(), "s")} for each arm on this machine. The table shows short runs.`;
  };

  // --- Give it back ---
  const copy = async (words) => {
    try { await navigator.clipboard.writeText(words); $("copied").textContent = "Copied."; }
    catch { $("copied").textContent = "Select the text below and copy it."; }
    $("given").textContent = words;
    $("given").hidden = false;
  };
  const download = () => {
    const here = found(positions);
    const result = { scenario: data.name, file: data.file, set: Object.fromEntries(core.overrides(data, positions)), trials: Object.fromEntries(data.arms.map((arm) => [arm, here.full[arm].filter(Boolean).map((kept) => kept.outcome)])) };
    const link = make("a", { href: URL.createObjectURL(new Blob([JSON.stringify(result, null, 1)], { type: "application/json" })), download: `${data.name}-whatif.json` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // --- Begin ---
  const begin = async () => {
    knobs();
    policies = drawing({ data, make, enter, move, planOf });
    $("workload").addEventListener("change", (event) => { shown = event.target.value; draw(); });
    $("undo").addEventListener("click", () => { const last = past.pop(); forget(); if (last) { positions = last; changed(); } });
    $("reset").addEventListener("click", () => { forget(); past.push({ ...positions }); positions = Object.fromEntries(data.knobs.map((knob) => [knob.path, knob.start])); changed(); });
    $("pin").addEventListener("click", () => { pinned = { ...positions }; draw(); say("These positions are what later ones are compared with."); });
    $("stop").addEventListener("click", () => { isStopped = true; cancel(); rest(); });
    $("long-run").addEventListener("click", () => { mayBeLong = true; $("long").hidden = true; plan(); });
    $("as-arm").addEventListener("click", () => copy(core.asArm(data, positions, "what-if")));
    $("as-command").addEventListener("click", () => copy(core.asCommand(data, positions)));
    for (const vendor of Object.keys((data.plans.configuration || {})[data.arms[0]] || {})) {
      $("as-configuration").append(...data.arms.map((arm) => make("button", { type: "button", onclick: () => copy(core.asConfiguration(data, arm, positions, vendor)) }, `${vendor} of ${arm}`)));
    }
    $("as-link").addEventListener("click", () => copy(location.href));
    $("download").addEventListener("click", download);
    addEventListener("hashchange", () => { const read = core.fromFragment(data, location.hash); if (keyOf(read.positions) !== keyOf(positions)) { past.push({ ...positions }); positions = read.positions; changed(); } });
    if (start.unknown.length) { $("unknown").hidden = false; $("unknown").textContent = `The link names values that this page does not have: ${start.unknown.join(", ")}.`; }
    if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") throw new Error("This browser has no WebAssembly or cannot unpack it (Chromium 80, Firefox 113, Safari 16.4 and later can).");
    const packed = Uint8Array.from(atob($("module").textContent.trim()), (letter) => letter.charCodeAt(0));
    const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    module = await WebAssembly.compile(bytes);
    const count = Math.min(4, navigator.hardwareConcurrency || 2);
    for (let at = 0; at < count; at++) { const worker = {}; workers.push(worker); spawn(worker); }
    changed();
  };
  begin().catch((error) => { $("dead").hidden = false; $("dead-text").textContent = String(error.message || error); say("Nothing can be simulated here."); });
  // Nothing is to come: no move that waits for the next one, no run, and what has been found is drawn.
  const isIdle = () => module !== null && !waiting && !isDrawing && !jobs.length && workers.every((worker) => !worker.job);
  globalThis.whatif = { data, core, values, move, positions: () => positions, results: () => found(positions), isIdle, say: () => $("status").textContent };
})();
