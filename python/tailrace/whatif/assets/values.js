// The values of knobs: positions by number, typed numbers by text; what they change, and what cannot be had together.
// Whole numbers of plans are exact: fractions are pairs of BigInt.
"use strict";
const values = (() => {
  const big = (pair) => [BigInt(pair[0]), BigInt(pair[1])];
  const add = ([a, b], [c, d]) => [a * d + c * b, b * d];
  const times = ([a, b], [c, d]) => [a * c, b * d];
  const below = ([a, b], [c, d]) => a * d < c * b; // denominators are above zero
  const ZERO = [0n, 1n];

  // A decimal number as a fraction; null for other words.
  const decimal = (text) => {
    const match = /^(\d{1,18})(?:\.(\d{1,12}))?$/.exec(text);
    return match ? [BigInt(match[1] + (match[2] || "")), 10n ** BigInt((match[2] || "").length)] : null;
  };
  // Number and unit of a text in the form of a knob: the scenario's text of it, and its value in the common unit.
  const read = (number, typed) => {
    let inner = typed.trim().replace(/\s+/g, "");
    if (number.head && inner.startsWith(number.head) && inner.endsWith(number.tail)) inner = inner.slice(number.head.length, -number.tail.length);
    const match = /^([\d.]+)(.*)$/.exec(inner.replace(",", "."));
    const digits = match && decimal(match[1]);
    if (!digits) return { words: `${typed} is not a number: write one such as ${number.low}` };
    const unit = match[2] === "" ? number.unit : match[2];
    if (!(unit in number.units)) return { words: `'${unit}' is not a unit of this value: ${Object.keys(number.units).join(", ")}` };
    return { text: `${number.head}${match[1]}${unit}${number.tail}`, value: times(digits, big(number.units[unit])) };
  };
  const valueOf = (knob, text) => (knob.number ? read(knob.number, text).value || null : null);
  // What a typed text means for a knob: a position, or the text of a number; or words that say why neither.
  const typed = (data, knob, words) => {
    const plain = words.trim().replace(/\s+/g, "");
    const position = knob.texts.indexOf(plain);
    if (position >= 0) return { at: position };
    if (!knob.number) return { words: `only positions: ${knob.texts.join(", ")}${knob.why ? ` (${knob.why})` : ""}` };
    const found = read(knob.number, words);
    if (found.words) return found;
    const same = knob.texts.findIndex((text) => { const other = valueOf(knob, text); return other && !below(other, found.value) && !below(found.value, other); });
    if (same >= 0) return { at: same };
    const [low, high] = [valueOf(knob, knob.number.low), valueOf(knob, knob.number.high)];
    if (below(found.value, low) || below(high, found.value)) return { words: `${found.text} is out of range: ${knob.number.low} to ${knob.number.high}${knob.number.beyond ? ` (${knob.number.beyond})` : ""}` };
    if (data.sizes.some(({ name }) => data.arms.some((arm) => follow(data, name, arm, knob, found.value) === null))) return { words: `${found.text} is finer than what a plan stores` };
    return { at: found.text };
  };
  const textOf = (knob, at) => (typeof at === "number" ? knob.texts[at] : at);
  const isMoved = (knob, at) => at !== knob.start;

  // (a + b * value) / c as a number; null where it is not whole.
  const at = ([a, b, c], value) => {
    const [top, bottom] = add([BigInt(a), 1n], times([BigInt(b), 1n], value));
    const whole = bottom * BigInt(c);
    return top % whole === 0n && top >= 0n ? Number(top / whole) : null;
  };
  // The steps of a typed number; null where a number of the plan would not be whole.
  const follow = (data, size, arm, knob, value) => {
    const steps = data.pool[data.follow[size][arm][knob.path]].map(([kind, path, line]) => [kind, path, at(line, value)]);
    return steps.some((step) => step[2] === null) ? null : steps;
  };
  const steps = (data, size, arm, knob, where) => {
    if (typeof where === "number") return data.pool[data.steps[size][arm][knob.path][where]];
    return follow(data, size, arm, knob, valueOf(knob, where));
  };

  // Why these positions cannot be simulated: [{paths, words}].
  const refusals = (data, positions) => {
    const found = [];
    const textAt = (knob) => textOf(knob, positions[knob.path]);
    const byPath = Object.fromEntries(data.knobs.map((knob) => [knob.path, knob]));
    const isMap = (knob) => knob.path.includes(".priorities.");
    for (const knob of data.knobs) {
      const words = isMap(knob) ? null : knob.refused[textAt(knob)];
      if (words) found.push({ paths: [knob.path], words: `${textAt(knob)} is refused: ${words}` });
    }
    for (const never of data.together.nevers) {
      if (!never.paths.every((path) => path in byPath)) continue;
      const isHere = never.texts.length ? never.paths.every((path, index) => textAt(byPath[path]) === never.texts[index]) : never.paths.every((path) => isMoved(byPath[path], positions[path]));
      if (isHere) found.push({ paths: never.paths, words: never.words });
    }
    const isAlone = (path) => found.some((one) => one.paths.length === 1 && one.paths[0] === path);
    for (const bound of data.together.bounds) {
      const [knob, other] = [byPath[bound.path], byPath[bound.other]];
      if (isAlone(bound.path) || isAlone(bound.other)) continue;
      if (!knob || !other || (bound.when !== null && textAt(other) !== bound.when)) continue;
      const value = valueOf(knob, textAt(knob));
      const end = add(big(bound.base), times(big(bound.slope), bound.when === null ? valueOf(other, textAt(other)) : ZERO));
      if (bound.upper ? below(end, value) : below(value, end)) found.push({ paths: [bound.path, bound.other], words: `${textAt(knob)} is refused while ${bound.other} is ${textAt(other)}: ${bound.upper ? "at most" : "at least"} ${written(knob.number, end)} (as in: ${bound.words})` });
    }
    return [...found, ...shares(data, textAt), ...unreached(data, textAt)];
  };
  // A fraction of the common unit in the unit of a knob, to what six digits show.
  const written = (number, value) => {
    const [top, bottom] = times(value, big([number.units[number.unit][1], number.units[number.unit][0]]));
    return `${number.head}${Number((Number(top) / Number(bottom)).toPrecision(12))}${number.unit}${number.tail}`;
  };
  const shares = (data, textAt) => groupsOf(data).flatMap((knobs) => {
    const [sum, most] = [(of) => knobs.reduce((total, knob) => total + milliOf(of(knob)), 0), 1000];
    const total = sum(textAt);
    return total > most ? [{ paths: knobs.map((knob) => knob.path), words: `the ${knobs[0].group} add up to ${total / 10} %: lower them to at most 100 % together` }] : [];
  });
  const milliOf = (text) => Math.round(parseFloat(text) * 10);
  const groupsOf = (data) => {
    const names = [...new Set(data.knobs.filter((knob) => knob.group && knob.path.endsWith(".share")).map((knob) => knob.group))];
    return names.map((name) => data.knobs.filter((knob) => knob.group === name));
  };
  // The queue of each class of a policy: that of its knob, or that of the file.
  const queueOf = (data, policy, textAt) => {
    const map = data.maps.find((one) => one.policy === policy);
    return map && map.queueOf.map((own, at) => { const knob = data.knobs.find((one) => one.path === `policies.${policy}.priorities.${at}`); return knob ? textAt(knob) : own; });
  };
  const unreached = (data, textAt) => data.maps.flatMap((map) => {
    const knobs = data.knobs.filter((knob) => knob.path.startsWith(`policies.${map.policy}.priorities.`));
    const reached = new Set([...queueOf(data, map.policy, textAt), map.express]);
    return map.queues.filter((queue) => !reached.has(queue)).map((queue) => ({ paths: knobs.map((knob) => knob.path), words: `no frame can enter queue '${queue}' of ${map.policy}: no class goes there` }));
  });

  // Positions with one share moved: the others of its policy keep their ratio, and the sum stays.
  const balanced = (data, knob, where, positions) => {
    const others = data.knobs.filter((one) => one.group === knob.group && one !== knob);
    const own = [knob, ...others].reduce((sum, one) => sum + milliOf(one.texts[one.start]), 0);
    const left = own - milliOf(textOf(knob, where));
    const before = others.map((one) => milliOf(textOf(one, positions[one.path])));
    const sum = before.reduce((total, one) => total + one, 0);
    const milli = before.map((one) => Math.max(1, Math.floor((left * one) / sum)));
    for (let rest = left - milli.reduce((total, one) => total + one, 0); rest !== 0; rest -= Math.sign(rest)) {
      const index = rest > 0 ? milli.indexOf(Math.min(...milli)) : milli.indexOf(Math.max(...milli));
      milli[index] += Math.sign(rest);
    }
    const moved = others.map((one, index) => [one.path, typed(data, one, `${milli[index] / 10}%`).at]);
    return { ...positions, [knob.path]: where, ...Object.fromEntries(moved) };
  };
  const isShare = (knob) => Boolean(knob.group) && knob.path.endsWith(".share");
  // The position of a slider: of a typed number, the nearest one below it.
  const placeOf = (knob, at) => {
    if (typeof at === "number") return at;
    const number = (text) => { const [top, bottom] = valueOf(knob, text); return Number(top) / Number(bottom); };
    return knob.texts.reduce((best, text, index) => (number(text) <= number(at) && (best < 0 || number(text) > number(knob.texts[best])) ? index : best), -1);
  };
  // What is on or off.
  const isSwitch = (knob) => knob.texts.length === 2 && knob.texts.every((text) => text === "true" || text === "false");
  return { placeOf, isSwitch, typed, textOf, queueOf, steps, refusals, balanced, isShare, valueOf };
})();
if (typeof module !== "undefined") module.exports = values;
