// Arms and workloads that the reader hides: everything of the class `of-arm-N` or `of-workload-N`, in drawings and tables.
const tailrace = { hidden: new Set(), changed: [] };
(() => {
  "use strict";
  const style = document.head.appendChild(document.createElement("style"));
  const choices = [...document.querySelectorAll("[data-of]")];

  // Of several rows with one label, the first one that is shown begins them.
  const label = () => document.querySelectorAll("tbody").forEach((body) => {
    let last = null;
    for (const row of body.rows) {
      const cell = row.querySelector("th[data-label]");
      if (!cell || [...row.classList].some((name) => tailrace.hidden.has(name))) continue;
      cell.classList.toggle("again", cell.dataset.label === last);
      row.classList.toggle("first", cell.dataset.label !== last);
      last = cell.dataset.label;
    }
  });

  const apply = () => {
    style.textContent = [...tailrace.hidden].map((name) => `.${name} { display: none !important; }`).join("\n");
    choices.forEach((one) => one.setAttribute("aria-pressed", String(!tailrace.hidden.has(one.dataset.of))));
    label();
    tailrace.changed.forEach((act) => act());
  };

  const toggle = (name) => {
    if (!tailrace.hidden.delete(name)) tailrace.hidden.add(name);
    apply();
  };

  choices.forEach((one) => {
    if (one.tagName !== "BUTTON") Object.assign(one, { role: "button", tabIndex: 0, title: "hide or show" });
    one.setAttribute("aria-pressed", "true");
    one.addEventListener("click", () => toggle(one.dataset.of));
    one.addEventListener("keydown", (event) => {
      if (one.tagName === "BUTTON" || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      toggle(one.dataset.of);
    });
  });
  document.querySelectorAll(".filter").forEach((bar) => {
    bar.hidden = false;
    bar.querySelector(".all").addEventListener("click", () => {
      tailrace.hidden.clear();
      apply();
    });
  });

  // A link to what is folded unfolds it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target?.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
