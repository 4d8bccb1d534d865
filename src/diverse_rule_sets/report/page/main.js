// Start of the page: read the data and add the event handlers.

function startTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const preference = window.matchMedia("(prefers-color-scheme: dark)");
  const other = () => ((root.dataset.theme || (preference.matches ? "dark" : "light")) === "dark" ? "light" : "dark");
  const show = () => {
    button.textContent = other() === "dark" ? "Dark" : "Light";
    button.setAttribute("aria-label", `Change to ${other()} colours`);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = other();
    show();
  });
  preference.addEventListener("change", show);
  show();
}

// Open all closed <details> before printing, because a reader cannot open them on paper.
function startPrint() {
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((details) => {
      details.open = true;
    });
  });
  window.addEventListener("afterprint", () =>
    closed.forEach((details) => {
      details.open = false;
    }),
  );
}

function start() {
  const page = JSON.parse(document.getElementById("data").textContent);
  for (const record of page.records) record.values = record.cells.map((cell, j) => readValue(page.columns[j], cell));
  startTheme();
  startPrint();
  const onTry = page.model ? startTry(page) : null;
  startTable(page, onTry);
  document.querySelectorAll("[data-goto]").forEach((button) => {
    button.addEventListener("click", () => goToRule(page, Number(button.dataset.goto), onTry));
  });
  const parent = document.getElementById("uncovered-records");
  const examples = examplePairs(page.uncovered);
  if (parent && examples.length) {
    parent.append(
      el("p", {}, "Some of these records, with their predicted labels:"),
      ...recordTable(page, examples, "Prediction is", [], onTry),
    );
  }
}

start();
