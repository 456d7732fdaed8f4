// The page's own code in Node: `node node_page.js ASSETS` reads one JSON object and writes one.
// It simulates positions, moves knobs at random, and ends where it began.
"use strict";
const fs = require("fs"), path = require("path"), zlib = require("zlib");
const assets = process.argv[2];
globalThis.values = require(path.join(assets, "values.js"));
const core = require(path.join(assets, "core.js"));
const simulator = require(path.join(assets, "worker.js"));
const { data, runs, moves, runEvery } = JSON.parse(fs.readFileSync(0, "utf8"));
const module_ = new WebAssembly.Module(zlib.gunzipSync(fs.readFileSync(path.join(assets, "simulator.wasm.gz"))));
const run = simulator(module_, () => false);
const digestOf = (arm, positions, trial) => {
  const answer = run(core.textOf(core.planOf(data, "quick", arm, positions), data.seeds[trial - 1], "page"));
  return answer.refused ? { refused: answer.refused } : answer.outcome.digest;
};
const start = Object.fromEntries(data.knobs.map((knob) => [knob.path, knob.start]));
const digests = runs.map(({ arm, trial, positions }) => digestOf(arm, positions, trial));

let state = 7;
const draw = (count) => { state = (state * 1103515245 + 12345) % 2147483648; return state % count; };
// A position or a number within the range, as a reader would type it.
const anywhere = (knob) => {
  if (!knob.number || draw(2) === 0) return draw(knob.texts.length);
  const ends = [knob.number.low, knob.number.high].map((text) => { const [top, bottom] = values.valueOf(knob, text); return Number(top) / Number(bottom); });
  const unit = knob.number.units[knob.number.unit], share = draw(1000) / 1000;
  const typed = ((ends[0] + (ends[1] - ends[0]) * share) * unit[1]) / unit[0];
  const found = values.typed(data, knob, `${Number(typed.toPrecision(3))}${knob.number.unit}`);
  return "at" in found ? found.at : knob.start;
};
let positions = start, simulated = 0, refused = 0;
for (let move = 0; move < moves; move++) {
  const knob = data.knobs[draw(data.knobs.length)], at = anywhere(knob);
  const next = values.isShare(knob) ? values.balanced(data, knob, at, positions) : { ...positions, [knob.path]: at };
  if (values.refusals(data, next).length) { refused++; continue; }
  positions = next;
  for (const arm of data.arms) core.planOf(data, "quick", arm, positions);
  if (move % runEvery === 0) { digestOf(data.arms[draw(data.arms.length)], positions, 1); simulated++; }
}
process.stdout.write(JSON.stringify({ digests, simulated, refused, heapBytes: process.memoryUsage().heapUsed, again: digestOf(data.arms[0], start, 1) }));
