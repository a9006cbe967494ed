/** @typedef {"next" | "previous" | "first" | "last" | "filter" | "open" | "close"} Action */

/** @type {Readonly<Record<string, Action>>} */
const actions = {
  j: "next",
  ArrowDown: "next",
  k: "previous",
  ArrowUp: "previous",
  Home: "first",
  End: "last",
  "/": "filter",
  Enter: "open",
  Escape: "close",
};

/**
 * What a key does.
 *
 * @param {{ readonly key: string, readonly isModified: boolean, readonly place: "text" | "control" | "page" }} pressed `isModified`: with Ctrl, Alt or Meta;
 *   `place`: where the focus is: in a field for text, on another control, or elsewhere
 * @returns {Action | undefined}
 */
export function actionOf({ key, isModified, place }) {
  if (isModified) return undefined;
  const action = actions[key];
  // A button has its own meaning of Enter, and a text needs the letters.
  if (place === "text") return action === "close" ? "close" : undefined;
  if (place === "control") return action === "open" ? undefined : action;
  return action;
}
