// How the search ranks pages: Sphinx's own scores, with headers of C++ after documents.
var Scorer = {
  score: ([docname, , , , score]) => (docname.startsWith("reference/cpp/") ? score - 20 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
