// From the search a page opens at the first place that was found, not at its top.
window.addEventListener("load", function () {
  if (window.location.hash) return;
  // Sphinx marks the words when the page is ready; their number may be none.
  window.setTimeout(function () {
    var found = document.querySelector(".article-container span.highlighted");
    if (found) found.scrollIntoView({block: "center"});
  }, 100);
});
