// Try a record: inputs for the columns that rules read, and the answer of decide() as they change.

function dateInput(column, micros) {
  const text = dateText(micros).replace(" ", "T");
  if (column.days) return text.slice(0, 10);
  return text.length === 10 ? `${text}T00:00` : text.slice(0, 23);
}

// What a person typed; undefined if it is not yet a value.
function typed(column, text) {
  if (column.kind === "number") return Number.isFinite(Number(text)) ? Number(text) : undefined;
  const moment = Date.parse(`${text}${text.includes("T") ? "" : "T00:00"}Z`);
  return Number.isNaN(moment) ? undefined : BigInt(moment) * 1000n;
}

function choiceInput(column, id) {
  const select = el("select", { id });
  column.choices.forEach((text, k) => select.append(el("option", { value: k }, text)));
  if (column.other) select.append(el("option", { value: -1 }, "another value"));
  select.append(el("option", { value: "" }, "missing"));
  return select;
}

function makeField(page, record, j, changed) {
  const column = page.columns[j];
  const id = `field-${j}`;
  const label = el("label", { for: id }, bdi(column.name), column.utc ? " (UTC)" : "");
  if (column.kind === "choice") {
    const select = choiceInput(column, id);
    select.addEventListener("change", () => changed(j, select.value === "" ? null : Number(select.value)));
    const show = () => {
      select.value = record[j] === null ? "" : record[j];
    };
    return { show, node: el("div", { class: "field" }, label, select) };
  }
  const type = column.kind === "number" ? "number" : column.days ? "date" : "datetime-local";
  const input = el("input", { id, type, step: type === "date" ? null : "any" });
  const box = el("input", { type: "checkbox", id: `${id}-missing` });
  const missing = el("label", { class: "gone" }, box, "missing");
  box.setAttribute("aria-label", `${column.name} is missing`);
  let last = null;
  const show = () => {
    const value = record[j];
    last = value === null ? last : value;
    box.checked = value === null;
    input.placeholder = value === null ? "missing" : String(value);
    input.value = value === null ? "" : column.kind === "number" ? value : dateInput(column, value);
  };
  input.addEventListener("input", () => {
    const value = input.value === "" ? null : typed(column, input.value);
    box.checked = value === null;
    if (value !== undefined) changed(j, value);
  });
  box.addEventListener("change", () => {
    const some =
      last ?? readValue(column, column.start) ?? typed(column, column.kind === "number" ? "0" : "2000-01-01");
    changed(j, box.checked ? null : some);
    show();
  });
  return { show, node: el("div", { class: "field" }, label, input, missing) };
}

function checkedRule(page, answer, record, j) {
  const rule = page.facts.rules[j];
  const items = page.phrases[j].map((part, c) => {
    const met = answer.checks[j][c];
    const column = page.columns[page.reads[j][c]];
    const mark = el("span", { class: met ? "met" : "unmet" }, met ? "✓" : "✗");
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", met ? "holds" : "does not hold");
    const own = el("small", { class: "own" }, "here: ", bdi(valueText(column, record[page.reads[j][c]])));
    return el("li", {}, mark, el("span", {}, conditionText(part), " ", own));
  });
  const title = el(
    "p",
    { class: "who" },
    el("b", {}, `${rule.backup ? "Backup" : "Rule"} ${j + 1}`),
    " says ",
    labelOf(page, rule.label_position),
  );
  if (j === answer.speaker) title.append(" ", el("strong", { class: "tag calm" }, "speaks"));
  return el(
    "div",
    { class: j === answer.speaker ? "checked speaks" : "checked" },
    title,
    el("ul", { class: "checks" }, ...items),
  );
}

function verdict(page, answer) {
  const n = answer.fired.length;
  const rule = answer.speaker < 0 ? null : page.facts.rules[answer.speaker];
  let why = "No rule and no backup applies: this is the default.";
  if (rule && rule.backup) why = `No rule applies; backup ${answer.speaker + 1} speaks.`;
  else if (n === 1 && rule) why = `Rule ${answer.speaker + 1} applies and speaks.`;
  else if (rule) why = `${n} rules apply; rule ${answer.speaker + 1} speaks.`;
  else if (n) why = "The rules that apply settle it together.";
  return [el("p", { class: "said" }, "Answer ", labelOf(page, answer.answer)), el("p", { class: "because" }, why)];
}

function chances(page, answer) {
  const order = answer.probabilities.map((share, k) => [share, k]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const line = ([share, k]) => {
    const fill = el("i", { class: `fill ${page.colours[k]}` });
    fill.style.width = `${100 * share}%`;
    return el(
      "div",
      { class: "chance" },
      labelOf(page, k),
      el("span", { class: "track" }, fill),
      el("span", { class: "share" }, percent(share)),
    );
  };
  const few = order.slice(0, 8).map(line);
  if (order.length <= 8) return few;
  return [
    ...few,
    el("details", {}, el("summary", {}, `${order.length - 8} less likely classes`), ...order.slice(8).map(line)),
  ];
}

function reasons(page, model, answer, record, open) {
  const rest = [...model.bodies.keys()].filter((j) => !answer.fired.includes(j) && j !== answer.speaker);
  const first = [answer.speaker, ...answer.fired.filter((j) => j !== answer.speaker)].filter((j) => j >= 0);
  const fails = (j) => answer.checks[j].filter((met) => !met).length;
  rest.sort((a, b) => fails(a) - fails(b) || a - b);
  const nodes = first.map((j) => checkedRule(page, answer, record, j));
  if (!first.length) nodes.push(el("p", {}, "No rule and no backup applies, so the default answers."));
  if (rest.length) {
    const more = el(
      "details",
      { id: "others", open },
      el("summary", {}, `What does not speak (${rest.length}), nearest first`),
    );
    more.append(...rest.map((j) => checkedRule(page, answer, record, j)));
    nodes.push(more);
  }
  return nodes;
}

function startTry(page) {
  const model = readModel(page.model, page.columns);
  const used = page.columns.flatMap((column, j) => (column.used ? [j] : []));
  const start = page.columns.map((column) => readValue(column, column.start));
  const record = [...start];
  const pick = document.getElementById("pick");
  const panel = document.getElementById("answer");
  const update = () => {
    const answer = decide(model, record);
    const others = document.getElementById("others");
    document.getElementById("verdict").replaceChildren(...verdict(page, answer));
    document.getElementById("chances").replaceChildren(...chances(page, answer));
    document
      .getElementById("reasons")
      .replaceChildren(...reasons(page, model, answer, record, Boolean(others && others.open)));
    panel.dataset.answer = answer.answer;
    panel.dataset.speaker = answer.speaker;
    panel.dataset.fired = JSON.stringify(answer.fired);
    panel.dataset.probabilities = JSON.stringify(answer.probabilities);
  };
  const changed = (j, value) => {
    record[j] = value;
    update();
  };
  const fields = used.map((j) => makeField(page, record, j, changed));
  const load = (values) => {
    values.forEach((value, j) => {
      record[j] = value;
    });
    fields.forEach((field) => field.show());
    update();
  };
  pick.append(el("option", { value: "" }, "typical values"));
  page.records.forEach((sample, place) => {
    const right = sample.answer === sample.actual ? "answered right" : "answered wrong";
    pick.append(el("option", { value: place }, `record ${sample.row}: ${page.facts.classes[sample.actual]}, ${right}`));
  });
  pick.addEventListener("change", () => load(pick.value === "" ? start : page.records[pick.value].values));
  document.getElementById("fields").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("inputs").append(...fields.map((field) => field.node));
  load(start);
  return (place) => {
    pick.value = place;
    load(page.records[place].values);
    document.getElementById("try").scrollIntoView();
    pick.focus({ preventScroll: true });
  };
}
