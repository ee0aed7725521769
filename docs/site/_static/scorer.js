// How the search ranks pages: Sphinx's own scores, with what users read first: documents about the subject, the Python API, then records,
// evidence and headers of C++.
var Scorer = {
  score: ([docname, title, , , score]) => {
    const query = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
    const named = query && title.toLowerCase().split(/[^a-z0-9_.]+/).includes(query) ? 8 : 0;
    if (docname.startsWith("reference/cpp/")) return score - 20 + named;
    if (/^(CHANGELOG|CONTRIBUTING|benchmark\/|docs\/(evidence\/|Rationale))/.test(docname)) return score - 4;
    return score + named + (/^(docs\/|reference\/python)/.test(docname) ? 2 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
