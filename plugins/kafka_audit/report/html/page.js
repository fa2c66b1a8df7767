"use strict";
// Enhancement only: every page is complete without it. Nothing here writes HTML; texts go in as textContent.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, attributes, text) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };

  // Inside Airflow: its theme is ours, too, and the frame lets no link out but one that its own document follows.
  const root = document.documentElement;
  try {
    const outer = window !== parent && parent.document.documentElement;
    if (outer) {
      const follow = () => {
        const dark = outer.classList.contains("dark");
        root.classList.toggle("dark", dark);
        root.classList.toggle("light", !dark);
      };
      follow();
      new MutationObserver(follow).observe(outer, {attributes: true, attributeFilter: ["class"]});
    }
  } catch { /* another origin: the system's wish decides */ }
  document.addEventListener("click", event => {
    const link = event.target.closest("a[data-top]");
    if (!link || window === parent) return;
    try {
      const twin = parent.document.createElement("a");
      twin.href = link.href;
      parent.document.body.append(twin);
      event.preventDefault();
      twin.click();
      twin.remove();
    } catch { /* stays a plain link */ }
  });

  // The newest snapshots are at the right end.
  for (const table of all("table.tl")) table.parentElement.scrollLeft = table.parentElement.scrollWidth;

  // Commands can be copied; where there is no clipboard (plain http) they are selected.
  for (const block of all("pre.command")) {
    const code = block.querySelector("code");
    const button = make("button", {type: "button", "aria-label": "Copy these commands"}, "Copy");
    button.onclick = async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    };
    const box = make("div", {class: "copy"}, "");
    block.replaceWith(box);
    box.append(block, button);
  }
  // A phone shows headline, remedy, evidence and matrix on two screens: what is not needed first starts closed.
  if (matchMedia("(max-width: 720px)").matches) all("details[data-narrow]").forEach(one => { one.open = false; });
  addEventListener("beforeprint", () => all("details").forEach(one => { one.open = true; }));
  // What scrolls is a stop of the Tab key, and nothing else is.
  const boxes = all(".scroll, pre.command");
  const fit = () => boxes.forEach(one => {
    const scrolls = one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight;
    if (scrolls) one.tabIndex = 0; else one.removeAttribute("tabindex");
    one.classList.toggle("cut", one.scrollLeft + one.clientWidth < one.scrollWidth - 1);
  });
  fit();
  addEventListener("resize", fit);
  document.addEventListener("scroll", fit, true);
  document.addEventListener("toggle", fit, true);
  for (const form of all("form[data-now]")) form.addEventListener("change", () => form.requestSubmit());

  // The matrix: one tab stop, arrows move, and the text below shows what a screen reader reads in the cell.
  for (const table of all("table.mx")) {
    const grid = all("tbody tr", table).map(row => all("td", row));
    const output = document.getElementById(table.dataset.says);
    const heads = all("thead th", table).map(one => one.dataset.name);
    if (output) output.textContent = "Select a cell for its reason.";
    const place = cell => {
      const row = grid.findIndex(cells => cells.includes(cell));
      return [row, row < 0 ? -1 : grid[row].indexOf(cell)];
    };
    for (const cells of grid) {
      const who = cells[0].parentElement.querySelector("th").dataset.name;
      cells.forEach((cell, column) => {
        const says = `${cell.dataset.word}${cell.title ? `. ${cell.title}` : ""}`;
        cell.setAttribute("aria-label", `${who} → ${heads[column]}: ${says}`);
      });
    }
    const describe = cell => { if (output) output.textContent = cell.getAttribute("aria-label"); };
    const go = (from, row, column) => {
      const next = grid[Math.max(0, Math.min(row, grid.length - 1))]?.[Math.max(0, Math.min(column, heads.length - 1))];
      if (!next || next === from) return;
      from?.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    };
    table.addEventListener("focusin", event => { if (event.target.matches("tbody td")) describe(event.target); });
    table.addEventListener("click", event => {
      const cell = event.target.closest("tbody td");
      if (cell) go(table.querySelector('td[tabindex="0"]'), ...place(cell));
      if (cell) describe(cell);
    });
    table.addEventListener("keydown", event => {
      const [row, column] = place(event.target);
      if (row < 0) return;
      const last = heads.length - 1;
      const moves = {
        ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
        Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? grid.length - 1 : row, last],
        PageUp: [row - 10, column], PageDown: [row + 10, column],
      };
      const to = moves[event.key];
      if (!to) return;
      event.preventDefault();
      go(event.target, ...to);
    });
  }

  // In a file there is no server to filter: rows are hidden by their text.
  for (const input of all("input[data-filters]")) {
    const list = `#${input.dataset.filters}`;
    const rows = all(`${list} tbody tr`);
    const texts = rows.map(row => row.textContent.toLowerCase());
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row, number) => { row.hidden = !words.every(word => texts[number].includes(word)); });
      all(`${list} .group`).forEach(one => { one.open = words.length > 0; });
    });
  }
})();
