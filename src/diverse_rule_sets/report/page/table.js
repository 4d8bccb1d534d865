// The table of rules: search, filter by label, sort, and show example records of a rule.

const KINDS = ["Rule", "Fallback rule"];
const rows = () => [...document.querySelectorAll("tbody.rule")];

function filterRules() {
  const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const label = document.getElementById("label-filter").value;
  const counts = [0, 0];
  for (const row of rows()) {
    const text = row.dataset.text.toLowerCase();
    row.hidden = (label !== "" && row.dataset.label !== label) || !words.every((word) => text.includes(word));
    if (!row.hidden) counts[KINDS.indexOf(row.dataset.kind)] += 1;
  }
  const totals = KINDS.map((kind) => rows().filter((row) => row.dataset.kind === kind).length);
  const countText = (k, noun) => `${counts[k]} of ${totals[k]} ${noun}${totals[k] === 1 ? "" : "s"}`;
  document.getElementById("match-count").textContent =
    countText(0, "rule") + (totals[1] ? `, ${countText(1, "fallback rule")}` : "");
  document.getElementById("no-match").hidden = counts[0] > 0;
}

// The first click on a heading sorts figures from the largest, and numbers, conditions and labels from the smallest.
function sortRules(heading) {
  const key = heading.dataset.key;
  const natural = ["number", "conditions", "label"].includes(key) ? "ascending" : "descending";
  const other = natural === "ascending" ? "descending" : "ascending";
  const direction = heading.getAttribute("aria-sort") === natural ? other : natural;
  for (const each of heading.parentElement.children) each.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", direction);
  const table = document.getElementById("rule-table");
  const sign = direction === "ascending" ? 1 : -1;
  const bodies = [...table.querySelectorAll("tbody.rule")].sort(
    (a, b) => sign * (a.dataset[key] - b.dataset[key]) || a.dataset.number - b.dataset.number,
  );
  table.append(...bodies);
}

// Describe the example records of a rule: how many are shown, and how many there are.
function examplesText(page, j) {
  const rule = page.facts.rules[j];
  const { right, wrong } = page.examples[j];
  const own = rule.class_counts[rule.label_position];
  const verb = rule.fallback ? "decides" : "covers";
  const part = (count, n, what) => (n ? `${count} of ${formatNumber(n)} ${what}` : `none ${what}`);
  if (!rule.n_covered) return `It ${verb} no record of this data.`;
  if (!page.records.length) {
    const total = `${formatNumber(rule.n_covered)} record${rule.n_covered === 1 ? "" : "s"}`;
    return `It ${verb} ${total}, ${formatNumber(own)} of them with its label. This file contains no records.`;
  }
  const others = rule.n_covered - own;
  const parts = [part(right.length, own, "with its label"), part(wrong.length, others, "with another label")];
  return `Example records that it ${verb}: ${parts.join(", ")}. The columns that it uses come first.`;
}

function openRule(page, row, open, onTry) {
  const button = row.querySelector(".opener");
  const examples = row.querySelector(".examples");
  const j = Number(row.dataset.rule);
  button.setAttribute("aria-expanded", String(open));
  examples.hidden = !open;
  const cell = examples.firstElementChild;
  if (!open || cell.childElementCount) return;
  const rule = page.facts.rules[j];
  const pairs = examplePairs(page.examples[j]);
  const heading = rule.fallback ? "Fallback rule is" : "Rule is";
  cell.append(el("p", {}, examplesText(page, j)));
  if (pairs.length) cell.append(...recordTable(page, pairs, heading, page.used_columns[j], onTry));
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
  document.getElementById("label-filter").addEventListener("change", filterRules);
}

function goToRule(page, j, onTry) {
  const row = document.querySelector(`tbody.rule[data-rule="${j}"]`);
  if (row.hidden) {
    document.getElementById("search").value = "";
    document.getElementById("label-filter").value = "";
    filterRules();
  }
  openRule(page, row, true, onTry);
  row.querySelector(".opener").focus();
  row.scrollIntoView({ block: "center" });
}
