// A classic worker: runs one plan after another. A run that is not wanted any more ends with its worker.
"use strict";
const simulator = (module, told) => {
  const failure = { text: null };
  const instance = new WebAssembly.Instance(module, {
    env: {
      told: (progress) => told(progress) ? 1 : 0,
      failed: (start, bytes) => { failure.text = new TextDecoder().decode(new Uint8Array(instance.exports.memory.buffer, start, bytes)); },
    },
  });
  const { memory, input, run, answer, answer_bytes: length } = instance.exports;
  return (plan) => {
    const text = new TextEncoder().encode(plan);
    const start = input(text.length);
    new Uint8Array(memory.buffer, start, text.length).set(text);
    let status;
    try { status = run(); } catch (error) { throw new Error(failure.text || String(error)); }
    const found = new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length()));
    return status === 0 ? JSON.parse(found) : { refused: found };
  };
};
if (typeof module !== "undefined") module.exports = simulator;
if (typeof self !== "undefined" && typeof document === "undefined" && typeof module === "undefined") {
  let run = null;
  let number = 0;
  self.onmessage = ({ data }) => {
    try {
      if (data.module) { run = simulator(data.module, (progress) => { self.postMessage({ number, progress }); return false; }); self.postMessage({ ready: true }); return; }
      number = data.number;
      self.postMessage({ number, answer: run(data.plan) });
    } catch (error) { self.postMessage({ number, failed: String(error.message || error) }); }
  };
}
