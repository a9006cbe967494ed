/** How the search of the site ranks pages. The function runs in the browser: it can use nothing from here. */
export const searchOptions = {
  // Tasks count more than maps and READMEs.
  boostDocument(id: string): number {
    if (/^\/(faq|concepts|guides|operations)\b/.test(id)) return 2;
    if (/^\/(contents|glossary)\b/.test(id)) return 0.4;
    if (/^\/packages\b/.test(id)) return 0.7;
    return 1;
  },
};
