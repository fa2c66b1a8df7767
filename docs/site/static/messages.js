// Above the results of the site's own search, which wants every word: the pages of error messages that fit best what was typed.
// The rules are those of kafka_audit.report.symptoms.search, from which the data comes.
document.addEventListener("DOMContentLoaded", () => {
  const data = window.KAFKA_AUDIT_MESSAGES;
  const typed = new URLSearchParams(location.search).get("q") || "";
  const results = document.getElementById("search-results");
  if (!data || !results) return;
  const common = new Set(data.common);
  const ending = new RegExp(data.ending);
  const read = typed.slice(0, data.longest);
  const parts = (text) => [...text.matchAll(new RegExp(data.word, "g"))].map((match) => match[0].toLowerCase());
  const stem = (word) => {
    const stemmed = word.replace(ending, "").slice(0, data.stem);
    return Object.hasOwn(data.alike, stemmed) ? data.alike[stemmed] : stemmed;
  };
  const asked = parts(read)
    .filter((word) => !common.has(word) && (word.length > 1 || /\d/.test(word)))
    .map(stem);
  const named = [...read.matchAll(new RegExp(data.name, "g"))].map((match) =>
    parts(match[0])
      .filter((word) => !data.suffixes.includes(word))
      .map(stem)
      .join(" "),
  );
  const words = [...new Set(asked)];
  const pairs = [...new Set(asked.slice(1).map((word, at) => `${asked[at]} ${word}`))];
  const names = [...new Set([...named, asked.join(" ")])];
  const sum = (parts, weights) => parts.reduce((total, part) => total + (Object.hasOwn(weights, part) ? weights[part] : 0), 0);
  // One word of several that a phrase shares is nothing.
  const shared = (phrase) => {
    const found = phrase.filter((word) => words.includes(word));
    return found.length > 1 || phrase.length === 1 ? (sum(found, data.rare) * found.length) / phrase.length : 0;
  };
  const score = (page) =>
    sum(words, page.words) +
    sum(pairs, page.pairs) +
    sum(names, page.names) +
    page.factor * data.phrase * Math.max(0, ...page.phrases.map(shared));
  const enough = data.enough[words.length > 1 ? 0 : 1];
  const ranked = data.pages.map((page) => ({ page, score: score(page) })).sort((one, other) => other.score - one.score);
  // Before the page of a check comes one of a message that leads to it and fits nearly as well.
  const leads = ({ page, score }) => page.codes.includes(ranked[0].page.slug) && score >= data.nearly * ranked[0].score;
  const first = ranked.slice(1, 4).find(leads);
  const best = (first ? [first, ...ranked.filter((one) => one !== first)] : ranked)
    .filter((one) => one.score >= enough && !one.page.elsewhere)
    .slice(0, 4);
  if (!best.length) return;
  const box = document.createElement("div");
  box.id = "message-pages";
  const heading = box.appendChild(document.createElement("h2"));
  heading.textContent = "Messages and checks";
  const list = box.appendChild(document.createElement("ol"));
  for (const { page } of best) {
    const link = list.appendChild(document.createElement("li")).appendChild(document.createElement("a"));
    link.href = `docs/${page.codes.length ? "symptoms" : "checks"}/${page.slug}.html`;
    link.textContent = page.title;
  }
  results.before(box);
});
