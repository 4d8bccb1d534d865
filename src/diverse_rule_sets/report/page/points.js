// The points of the record in the panel: a table for each scorecard, and the probabilities by points of a rule.

// The probability of the label of a rule by points; the figure for the points of the record is marked.
function stepNodes(page, model, result, j) {
  const steps = page.steps[j];
  if (!steps) return [];
  const table = model.points_tables[j];
  const [lowest, highest] = [steps.figures[0][0], steps.figures[steps.figures.length - 1][1]];
  const points = Math.min(Math.max(result.values[table.column], lowest), highest);
  const covers = result.checks[j].every(Boolean);
  const cells = steps.figures.map(([low, high, text, share]) => {
    const here = covers && low <= points && points <= high;
    return el("span", { class: "step", "aria-current": here ? "true" : null }, el("small", {}, text), ` ${share}`);
  });
  const label = labelNode(page, page.facts.rules[j].label_position);
  const title = el("span", { class: "step-title" }, `${steps.name} of `, label, " by ", bdi(steps.column), ":");
  const note = steps.note ? [el("small", {}, steps.note)] : [];
  return [el("div", { class: "steps" }, title, ...cells, ...note)];
}

// The cell of the points of a sign: a number, or, with several labels, a number for each label that gets points.
function pointsCell(page, card, points) {
  if (card.labels.length === 1) return el("td", { class: "figure" }, String(points[0]));
  const given = card.labels.map((label, k) => [points[k], label]).filter(([n]) => n);
  return el("td", {}, ...given.map(([n, label]) => pointNode(page, n, label)));
}

function pointNode(page, n, label, leads = false) {
  return el("span", { class: leads ? "point leads" : "point" }, el("b", {}, String(n)), " ", labelNode(page, label));
}

// The sentence about the sum of the points, or about the label that leads.
function sumNodes(page, card, count) {
  const points = (n) => `${n} point${n === 1 ? "" : "s"}`;
  if (card.labels.length === 1) return [el("b", {}, points(count.sums[0])), " for ", labelNode(page, card.labels[0])];
  const most = count.sums[count.leader];
  const tied = count.sums.filter((n) => n === most).length;
  const leads = [labelNode(page, card.labels[count.leader]), " leads with ", el("b", {}, points(most))];
  if (tied === 1) return [...leads, ", lead\u00a0", el("b", {}, String(count.lead))];
  return [...leads, ", lead\u00a0", el("b", {}, "0"), `: ${tied} labels have as many points, and it is listed first`];
}

// A sign as a row of the table, with its mark, the value of the record, and its points.
function signRow(page, model, result, card, s, k) {
  const { column } = model.scorecards[s].signs[k].condition;
  const held = result.points[s].signs[k];
  const text = el("td", {}, conditionNode(card.signs[k].phrase), " ");
  text.append(hereNode(page.columns[column], result.values[column]));
  const cells = [el("td", {}, markNode(held)), text, pointsCell(page, card, card.signs[k].points)];
  return el("tr", { class: held ? "held" : "not-held" }, ...cells);
}

// One scorecard: which signs hold for the record, and the sum of their points.
function pointsNode(page, model, result, card, s) {
  const count = result.points[s];
  const one = card.labels.length === 1;
  const heading = (text, attributes = {}) => el("th", { scope: "col", ...attributes }, text);
  const kind = { class: one ? "figure" : null };
  const head = el("tr", {}, heading("", { "aria-label": "Holds" }), heading("Sign"), heading("Points", kind));
  const rows = card.signs.map((_, k) => signRow(page, model, result, card, s, k));
  if (card.base.some((n) => n)) {
    const cells = [el("td", {}, markNode(true)), el("td", {}, "always"), pointsCell(page, card, card.base)];
    rows.unshift(el("tr", { class: "held" }, ...cells));
  }
  const sums = card.labels.map((label, k) => pointNode(page, count.sums[k], label, k === count.leader));
  const total = one ? el("td", { class: "figure" }, String(count.sums[0])) : el("td", {}, ...sums);
  const foot = el("tr", {}, el("td"), el("th", { scope: "row" }, "Sum"), total);
  const table = el(
    "table",
    { class: "points", "aria-label": `Scorecard ${card.name}` },
    el("thead", {}, head),
    el("tbody", {}, ...rows),
    el("tfoot", {}, foot),
  );
  const title = el("p", { class: "points-sum" }, "Scorecard ", bdi(card.name), ": ", ...sumNodes(page, card, count));
  return el("div", { class: "scorecard" }, title, table);
}
