// What the page does without a document: plans from positions, metrics from outcomes, intervals from trials.
"use strict";
const core = (() => {
  const nameOf = (value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
    const name = "name" in value ? value.name : value.header && value.header.name;
    return typeof name === "string" ? name : null;
  };
  const placeOf = (value, key) => {
    if (typeof key !== "object") return key;
    const at = value.findIndex((element) => nameOf(element) === key.name);
    if (at < 0) throw new Error(`no element is named ${key.name}`);
    return at;
  };
  // The same steps as `tailrace.whatif.patch.applied`.
  const applyAt = (value, path, depth, step) => {
    if (typeof value === "string" && step[0] === "digits") { let which = 0; return value.replace(/\d+/g, (old) => (which++ === path[depth] ? String(step[2]) : old)); }
    if (depth === path.length) {
      if (step[0] !== "insert") return step[2];
      return [...value.slice(0, step[2]), step[3], ...value.slice(step[2])];
    }
    const key = placeOf(value, path[depth]);
    const copy = Array.isArray(value) ? [...value] : { ...value };
    if (depth === path.length - 1 && step[0] === "remove") {
      if (Array.isArray(copy)) copy.splice(key, 1);
      else delete copy[key];
    } else if (depth === path.length - 1 && step[0] === "set") copy[key] = step[2];
    else copy[key] = applyAt(value[key], path, depth + 1, step);
    return copy;
  };
  const applied = (plan, steps) => steps.reduce((one, step) => applyAt(one, step[1], 0, step), plan);

  const stepsOf = (data, size, arm, positions) =>
    data.knobs.flatMap((knob) => values.steps(data, size, arm, knob, positions[knob.path]));
  const planOf = (data, size, arm, positions) => applied(data.plans[size][arm], stepsOf(data, size, arm, positions));
  // Seeds have more digits than a number of this language: they go in as text.
  const textOf = (plan, seed, name) => JSON.stringify({ ...plan, name, seed: "@seed" }).replace('"seed":"@seed"', `"seed":${seed}`);

  const PS = 1e12;
  const METRICS = [
    { key: "p50", name: "median", unit: "s", lower: true, percent: 50, of: (one) => latency(one, "p50_ps") },
    { key: "p99", name: "99th percentile", unit: "s", lower: true, percent: 99, of: (one) => latency(one, "p99_ps") },
    { key: "rate", name: "completed", unit: "/s", lower: false, of: rateOf },
    { key: "goodput", name: "goodput", unit: "bit/s", lower: false, of: goodputOf },
  ];
  function latency(one, key) {
    return one.latency && one.latency.count > 0 ? one.latency[key] / PS : null;
  }
  function spanOf(one, outcome) {
    const end = one.completion_ps || outcome.end_ps;
    return Math.max(end - (one.counted_from_ps || 0), 1) / PS;
  }
  function rateOf(one, outcome) {
    return one.latency && one.latency.count > 0 ? one.latency.count / spanOf(one, outcome) : null;
  }
  function goodputOf(one, outcome) {
    if (one.latency && one.latency.count > 0) return null;
    return one.goodput_bytes > 0 ? (one.goodput_bytes * 8) / spanOf(one, outcome) : null;
  }
  // Rows of the table: {workload, metric} with what this outcome gives.
  const figures = (outcome) =>
    outcome.workloads.flatMap((one) =>
      METRICS.map((metric) => ({ workload: one.name, metric: metric.key, value: metric.of(one, outcome) })).filter((row) => row.value !== null));

  // The figure of a row over trials: of all transactions together, or the mean; with its interval, or the trials that one takes.
  const figure = (outcomes, row) => {
    const metric = METRICS.find((one) => one.key === row.metric);
    const found = outcomes.map((outcome) => [outcome.workloads.find((one) => one.name === row.workload), outcome]).filter(([one]) => one);
    if (metric.percent) return percentile(statistics.latencies(found.map(([one]) => one)), metric.percent);
    const values = found.map(([one, outcome]) => metric.of(one, outcome)).filter((value) => value !== null);
    if (!values.length) return { value: null, count: 0 };
    return { value: statistics.mean(values), interval: statistics.logInterval(values), needed: values.length < 3 ? 3 : 0, isBound: false, count: values.length, values };
  };
  const percentile = (latencies, percent) => {
    if (!latencies) return { value: null, count: 0 };
    const { ps, isBound } = statistics.estimate(latencies.pooled, percent), interval = statistics.percentileInterval(latencies, percent);
    return { value: ps / PS, interval: interval && { low: interval.low / PS, high: interval.high / PS }, needed: statistics.trialsNeeded(latencies, percent), isBound, count: latencies.trials.length, latencies, percent };
  };
  // From the first figure to the second one: trials of one number have one seed. Lower bounds are not compared.
  const change = (first, second) => {
    if (first.value === null || second.value === null || first.count !== second.count || first.isBound || second.isBound) return { ratio: null, interval: null, p: 1 };
    return first.percent ? statistics.percentileChange(first.latencies, second.latencies, first.percent) : statistics.meanChange(first.values, second.values);
  };
  // The p value after one look: the larger of that of pairs and that of the interval, as in `tailrace run`.
  const pOfLook = (first, second, tests) => {
    const own = change(first, second);
    if (own.ratio === null) return 1;
    const scores = first.percent ? statistics.latencyScores(first.latencies, second.latencies, first.percent) : statistics.logsOrValues(first.values, second.values);
    return scores ? Math.max(own.p, statistics.pOfPairs(...scores, tests)) : 1;
  };
  // The p value of one of so many comparisons that are looked at after 6, 8 and 12 trials: the smallest, for so many looks.
  const pOf = (before, after, row, tests) => {
    const looks = statistics.LOOKS, count = Math.min(before.length, after.length);
    return Math.min(1, ...looks.filter((look) => look <= count).map((look) => looks.length * pOfLook(figure(before.slice(0, look), row), figure(after.slice(0, look), row), looks.length * tests)));
  };

  const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));
  const scaledText = (value, units) => {
    const [factor, unit] = units.find(([factor]) => Math.abs(value) >= factor) || units[units.length - 1];
    return `${digits(value / factor)} ${unit}`;
  };
  const text = (value, unit) => {
    if (value === null || value === undefined) return "–";
    if (unit === "s") return scaledText(value, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]);
    if (unit === "bit/s") return scaledText(value, [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]]);
    if (unit === "B") return scaledText(value, [[1e6, "MB"], [1e3, "kB"], [1, "B"]]);
    return `${digits(value)} ${unit}`.trim();
  };
  // Changes in the words of `tailrace.results.format.numbers`: from the fourfold on as a ratio.
  const TIMES_FROM = 4;
  const signed = (value) => { const text = Math.abs(value).toFixed(1); return `${Number(text) === 0 ? "" : value > 0 ? "+" : "−"}${text}`; };
  const percent = (ratio) => signed((ratio - 1) * 100);
  const changeText = ({ change: { ratio, interval } }) => {
    if (ratio === null) return "–";
    const isTimes = ratio >= TIMES_FROM;
    const ends = interval ? (isTimes ? ` (× ${digits(interval.low)} to ${digits(interval.high)})` : ` (${percent(interval.low)} to ${percent(interval.high)} %)`) : "";
    return `${isTimes ? `× ${digits(ratio)}` : `${percent(ratio)} %`}${ends}`;
  };
  // Verdicts, signs and colours of the tables of `tailrace run`: of main figures alone; without enough trials there is none.
  const toneOf = (one, metric) => {
    if (!one.isMain) return "";
    if (one.change.ratio === null) return "censored";
    if (one.p < statistics.SIGNIFICANCE) return (one.change.ratio < 1) === metric.lower ? "better" : "worse";
    return statistics.canDecide(one.count, one.tests) ? "same" : "few";
  };
  const SIGNS = { better: "✓ ", worse: "✗ ", same: "= ", few: "? ", censored: "> ", "": "" };
  const figureText = (one, unit) => (one.isBound ? "> " : "") + text(one.value, unit);
  const intervalText = (one, unit) => (one.interval ? ` (${text(one.interval.low, unit)} to ${text(one.interval.high, unit)})` : one.value !== null && !one.isBound && one.needed > one.count ? ` (interval from about ${one.needed} trials on)` : "");
  const isWithin = (interval, value, share) => interval.high - value <= share * value && value - interval.low <= share * value;
  // What is worked out of the same trials is the same.
  const once = (here, name, outcomes, of) => {
    if (!here.once) here.once = new Map();
    const kept = here.once.get(name);
    if (kept && kept.of.length === outcomes.length && kept.of.every((one, at) => one === outcomes[at])) return kept.value;
    const value = of();
    here.once.set(name, { of: outcomes, value });
    return value;
  };

  // What an arm needs in a scenario file to have these positions.
  const overrides = (data, positions) => {
    const away = data.knobs.filter((knob) => knob.always || positions[knob.path] !== knob.start);
    const groups = new Set(away.map((knob) => knob.group).filter(Boolean));
    return data.knobs.filter((knob) => away.includes(knob) || groups.has(knob.group)).map((knob) => [knob.path, values.textOf(knob, positions[knob.path])]);
  };
  const asArm = (data, positions, name) =>
    [`arms:`, `  ${name}:`, ...overrides(data, positions).map(([path, value]) => `    ${path}: ${value}`)].join("\n");
  // Queues of NX-OS are called after the classes that are mapped to them: the same as `tailrace.whatif.classes.named`.
  const named = (data, arm, written, kept, positions) => {
    const lines = Object.fromEntries(Object.entries(written).map(([name, one]) => [name, [...one.lines]]));
    for (const [name, at, policy, queue] of data.places[arm]) {
      const queueOf = values.queueOf(data, policy, (knob) => values.textOf(knob, kept.includes(knob) ? positions[knob.path] : knob.start));
      if (!queueOf) continue;
      const queues = [...new Set(data.places[arm].filter((place) => place[0] === name && place[2] === policy).map((place) => place[3]))];
      const group = groups(queues, queueOf).get(queue);
      lines[name][at] = lines[name][at].replace(/c-out-8q-q(?:\d|-default)/, group ? `c-out-8q-q${group}` : "c-out-8q-q-default");
    }
    return Object.fromEntries(Object.entries(written).map(([name, one]) => [name, { ...one, lines: lines[name] }]));
  };
  const groups = (queues, queueOf) => {
    const found = new Map([[queueOf[0], 0]]);
    for (const queue of queues) { const own = queueOf.indexOf(queue, 1); if (!found.has(queue) && own > 0) found.set(queue, own); }
    const free = queueOf.map((_, at) => at).reverse().filter((at) => ![...found.values()].includes(at));
    for (const queue of queues) if (!found.has(queue)) found.set(queue, free.shift());
    return found;
  };
  // The configuration of an arm's switches in the words of a vendor. What the page cannot put together there is named.
  const asConfiguration = (data, arm, positions, vendor) => {
    const isMissing = (knob, at) => at !== knob.start && (knob.unwritten.includes(vendor) || (typeof at !== "number" && (knob.number.unwritten.includes(vendor) || values.steps(data, "configuration", arm, knob, at) === null)));
    const alone = data.knobs.filter((knob) => isMissing(knob, positions[knob.path]));
    const missing = data.knobs.filter((knob) => alone.includes(knob) || (values.isShare(knob) && alone.some((one) => one.group === knob.group)));
    const kept = data.knobs.filter((knob) => !missing.includes(knob));
    const steps = kept.flatMap((knob) => values.steps(data, "configuration", arm, knob, positions[knob.path])).filter((step) => step[1][0] === vendor);
    const typed = kept.filter((knob) => typeof positions[knob.path] !== "number").map((knob) => `! ${knob.path}: ${positions[knob.path]} may be rounded; tailrace export says what is lost`);
    const lacking = missing.filter((knob) => positions[knob.path] !== knob.start).map((knob) => `! ${knob.path}: ${values.textOf(knob, positions[knob.path])} is not in these lines; tailrace export ${vendor.toLowerCase().replace("-", "")} .. --set ${knob.path}=.. writes it`);
    const written = applied(data.plans.configuration[arm], steps)[vendor];
    return Object.entries(vendor === "NX-OS" ? named(data, arm, written, kept, positions) : written)
      .map(([, one]) => [...one.lines, ...Object.entries(one.remarks).map(([what, words]) => `! ${what}: ${words}`), ...typed, ...lacking].join("\n"))
      .join("\n\n");
  };
  // The conditions of a rule of a plan: ports are first and last, protocols numbers.
  const conditionText = (key, value) => {
    if (key === "protocol") return { 6: "tcp", 17: "udp" }[value] || value;
    return key.endsWith("_port") ? [...new Set(value)].join("-") : [value].flat().join(" or ");
  };
  const ruleWords = (rule) =>
    Object.entries(rule).filter(([key]) => key !== "class").map(([key, value]) => `${key.replace("_", " ")} ${conditionText(key, value)}`).join(", ") || "every frame";
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);
  const asCommand = (data, positions) =>
    ["tailrace run", quoted(data.file), ...overrides(data, positions).map(([path, value]) => `--set ${quoted(`${path}=${value}`)}`)].join(" ");

  // Positions in the fragment of the address, by path and text, so that a link outlives a change of positions.
  const toFragment = (data, positions) =>
    data.knobs.filter((knob) => positions[knob.path] !== knob.start).map((knob) => [knob.path, values.textOf(knob, positions[knob.path])]).map(([path, value]) => `${encodeURIComponent(path)}=${encodeURIComponent(value)}`).join("&");
  const fromFragment = (data, fragment) => {
    const positions = Object.fromEntries(data.knobs.map((knob) => [knob.path, knob.start]));
    const unknown = [];
    for (const part of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
      const [path, value] = part.split("=").map((one) => { try { return decodeURIComponent(one || ""); } catch { return one; } });
      const knob = data.knobs.find((one) => one.path === path);
      const at = knob ? values.typed(data, knob, value || "").at : undefined;
      if (at === undefined) unknown.push(`${path}=${value}`);
      else positions[path] = at;
    }
    return { positions, unknown };
  };
  return { applied, planOf, textOf, figures, figure, change, pOfLook, pOf, toneOf, SIGNS, changeText, figureText, intervalText, isWithin, once, text, overrides, asArm, asCommand, asConfiguration, toFragment, fromFragment, ruleWords, METRICS };
})();
if (typeof module !== "undefined") module.exports = core;
