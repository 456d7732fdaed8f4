// The policies of each arm's switches as boxes, built once: what is a knob is edited in its box.
"use strict";
const drawing = ({ data, make, enter, move, planOf }) => {
  const editors = []; // {knob, control}
  const fills = []; // {arm, of, node}: what depends on the plan
  const knobAt = (path) => data.knobs.find((knob) => knob.path === path);

  // A box to type in for numbers, a list for everything else.
  const editor = (knob, name) => {
    const attributes = { "data-path": knob.path, "aria-label": `${knob.label.join(" ")}: ${name}`, title: knob.path, class: "edit" };
    const control = knob.number
      ? make("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", ...attributes, onchange: (event) => enter(knob, event.target.value, event.target) })
      : make("select", { ...attributes, onchange: (event) => move(knob.path, Number(event.target.value)) }, ...knob.texts.map((text, at) => make("option", { value: at, disabled: text in knob.refused && !knob.path.includes(".priorities.") }, text)));
    editors.push({ knob, control });
    return control;
  };
  const words = (path, start) => path.slice(start.length).replace(/[._]/g, " ");
  const row = (knob, name) => make("label", { class: "edited" }, make("span", {}, name), editor(knob, name));

  const queueBox = (arm, place, policy, queue) => {
    const start = `policies.${policy}.queues.${queue.name}.`;
    const knobs = data.knobs.filter((knob) => knob.path.startsWith(start));
    const share = knobs.find(values.isShare);
    const limit = knobAt(`${start}limit`);
    const fill = make("span", { class: "fill" }), service = make("span", {}), amount = make("span", {});
    fills.push({ arm, place, queue: queue.name, draw: (found, one) => {
      const bytes = found.limit && found.limit.bytes;
      fill.style.width = `${(100 * (bytes && one.buffer_bytes ? Math.min(1, bytes / one.buffer_bytes) : 1)).toFixed(1)}%`;
      service.textContent = Object.entries(found.service || {}).map(([kind, value]) => `${kind === "dwrr" ? "weight" : kind} ${value}`).join(" ");
      amount.textContent = limit ? "" : bytes ? core.text(bytes, "B") : "dynamic";
    } });
    const others = knobs.filter((knob) => knob !== share && knob !== limit);
    return make("div", { class: "queue" }, fill,
      make("div", { class: "queue-line" }, make("b", {}, queue.name), service, share ? row(share, "share") : null, limit ? row(limit, "limit") : amount),
      others.length ? make("div", { class: "edits" }, ...others.map((knob) => row(knob, words(knob.path, start)))) : null);
  };

  const classes = (policy) => {
    const knobs = data.knobs.filter((knob) => knob.path.startsWith(`policies.${policy}.priorities.`));
    if (!knobs.length) return null;
    return make("fieldset", { class: "classes" }, make("legend", {}, "Queue of each class"), ...knobs.map((knob) => row(knob, `class ${knob.path.split(".").pop()}`)));
  };
  const rules = (name, one) => {
    const found = data.knobs.filter((knob) => new RegExp(`^switches\\.(${CSS.escape(name)}|defaults)\\.classify\\.`).test(knob.path));
    if (!found.length || !one.classify) return null;
    return make("fieldset", { class: "classes" }, make("legend", {}, "Class of each rule"), ...found.map((knob) => {
      const rule = one.classify[Number(knob.path.split(".")[3])] || {};
      return row(knob, core.ruleWords(rule));
    }));
  };
  const partOf = (plan, [, name, towards]) => {
    const one = plan.switches.find((other) => other.name === name);
    const port = towards && one.port_policies.find((other) => other.towards === towards);
    return [one, port ? port.policy : one.policy];
  };

  const boxes = data.arms.map((arm) => {
    const plan = planOf(arm);
    if (!plan) return null;
    const seen = new Set();
    const drawn = data.used[arm].map((place) => {
      const [policy, name] = place, [one, own] = partOf(plan, place);
      if (!own) return null;
      const start = `policies.${policy}.`;
      const others = data.knobs.filter((knob) => knob.path.startsWith(start) && !/^policies\.[^.]+\.(queues|priorities)\./.test(knob.path));
      const buffer = make("small");
      fills.push({ arm, place, queue: null, draw: (_, node) => { buffer.textContent = ` buffer ${core.text(node.buffer_bytes, "B")}`; } });
      const ofSwitch = seen.has(name) ? null : rules(name, one);
      seen.add(name);
      return make("div", { class: "switch" }, make("h4", {}, `${name}${place[2] ? ` to ${place[2]}` : ""}: ${policy}`, buffer),
        ...own.queues.map((queue) => queueBox(arm, place, policy, queue)),
        others.length ? make("div", { class: "edits" }, ...others.map((knob) => row(knob, words(knob.path, start)))) : null,
        classes(policy), ofSwitch);
    });
    return make("div", { class: "policy" }, make("h3", {}, arm), ...drawn.filter(Boolean));
  });
  document.getElementById("policies").replaceChildren(...boxes.filter(Boolean));

  // The drawing of the present positions.
  const draw = (positions) => {
    for (const { knob, control } of editors) {
      const at = positions[knob.path];
      const text = knob.number ? values.textOf(knob, at) : String(at);
      if (control.value !== text && control !== document.activeElement) control.value = text;
      control.classList.toggle("moved", at !== knob.start);
    }
    for (const arm of data.arms) {
      const plan = planOf(arm);
      if (!plan) continue;
      for (const one of fills.filter((other) => other.arm === arm)) {
        const [node, policy] = partOf(plan, one.place);
        one.draw(one.queue === null ? null : policy.queues.find((queue) => queue.name === one.queue), node);
      }
    }
  };
  return { draw };
};
