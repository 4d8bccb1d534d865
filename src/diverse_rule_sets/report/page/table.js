// The table of rules: search, filter by label, sort, and the records behind a rule.

const KINDS = ["Rule", "Fallback"];
const rows = () => [...document.querySelectorAll("tbody.rule")];

function filterRules() {
  const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const label = document.getElementById("only").value;
  const counts = [0, 0];
  for (const row of rows()) {
    const text = row.dataset.text.toLowerCase();
    row.hidden = (label !== "" && row.dataset.label !== label) || !words.every((word) => text.includes(word));
    if (!row.hidden) counts[KINDS.indexOf(row.dataset.kind)] += 1;
  }
  const totals = KINDS.map((kind) => rows().filter((row) => row.dataset.kind === kind).length);
  const told = (k, noun) => `${counts[k]} of ${totals[k]} ${noun}${totals[k] === 1 ? "" : "s"}`;
  document.getElementById("shown").textContent = told(0, "rule") + (totals[1] ? `, ${told(1, "fallback")}` : "");
  document.getElementById("nothing").hidden = counts[0] > 0;
}

// The first click on figures puts the largest first; numbers and labels begin with the smallest.
function sortRules(heading) {
  const key = heading.dataset.key;
  const natural = ["number", "conditions", "label"].includes(key) ? "ascending" : "descending";
  const other = natural === "ascending" ? "descending" : "ascending";
  const direction = heading.getAttribute("aria-sort") === natural ? other : natural;
  for (const each of heading.parentElement.children) each.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", direction);
  const table = document.getElementById("rule-table");
  const sign = direction === "ascending" ? 1 : -1;
  const sorted = [...table.querySelectorAll("tbody.rule")].sort(
    (a, b) => sign * (a.dataset[key] - b.dataset[key]) || a.dataset.number - b.dataset.number,
  );
  table.append(...sorted);
}

function tellBehind(page, j) {
  const rule = page.facts.rules[j];
  const { right, wrong } = page.behind[j];
  const own = rule.class_counts[rule.label_position];
  const part = (shown, n, how) => (n ? `${shown} of ${whole(n)} that it gets ${how}` : `none that it gets ${how}`);
  if (!rule.n_covered) return "No record of this data is behind it.";
  if (!page.records.length) {
    return `It gets ${whole(own)} of ${whole(rule.n_covered)} right; this file holds no records.`;
  }
  const parts = [part(right.length, own, "right"), part(wrong.length, rule.n_covered - own, "wrong")];
  return `Records: ${parts.join(", ")}. The columns it reads come first.`;
}

function openRule(page, row, open, onTry) {
  const button = row.querySelector(".opener");
  const behind = row.querySelector(".behind");
  const j = Number(row.dataset.rule);
  button.setAttribute("aria-expanded", String(open));
  behind.hidden = !open;
  const cell = behind.firstElementChild;
  if (!open || cell.childElementCount) return;
  const rule = page.facts.rules[j];
  const { right, wrong } = page.behind[j];
  const picked = [...right.map((place) => [place, true]), ...wrong.map((place) => [place, false])];
  cell.append(el("p", {}, tellBehind(page, j)));
  if (picked.length)
    cell.append(...recordTable(page, picked, rule.fallback ? "Fallback is" : "Rule is", page.reads[j], onTry));
}

function startTable(page, onTry) {
  for (const row of rows()) {
    const toggle = () =>
      openRule(page, row, row.querySelector(".opener").getAttribute("aria-expanded") !== "true", onTry);
    row.firstElementChild.addEventListener("click", (event) => {
      if (!event.target.closest("details") && !String(window.getSelection())) toggle();
    });
  }
  const table = document.getElementById("rule-table");
  if (!table) return;
  table.querySelectorAll("th[data-key] button").forEach((button) => {
    button.addEventListener("click", () => sortRules(button.parentElement));
  });
  document.getElementById("search").addEventListener("input", filterRules);
  document.getElementById("only").addEventListener("change", filterRules);
}

function goToRule(page, j, onTry) {
  const row = document.querySelector(`tbody.rule[data-rule="${j}"]`);
  if (row.hidden) {
    document.getElementById("search").value = "";
    document.getElementById("only").value = "";
    filterRules();
  }
  openRule(page, row, true, onTry);
  row.querySelector(".opener").focus();
  row.scrollIntoView({ block: "center" });
}
