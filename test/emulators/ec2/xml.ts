/** What an element can hold. Items of a list become `<item>`; undefined leaves the element out. */
export type Xml = string | number | boolean | undefined | readonly Xml[] | XmlGroup;

/** Elements by name. */
export interface XmlGroup {
  readonly [element: string]: Xml;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const isList = (value: Xml): value is readonly Xml[] => Array.isArray(value);

function contentOf(value: Xml): string {
  if (isList(value)) return value.map((item) => xmlOf("item", item)).join("");
  if (typeof value === "object") {
    return Object.entries(value)
      .map(([name, child]) => xmlOf(name, child))
      .join("");
  }
  return String(value).replaceAll(/[&<>"]/g, (sign) => escapes[sign] ?? sign);
}

/** An element in EC2's XML. */
export function xmlOf(element: string, content: Xml, namespace?: string): string {
  if (content === undefined) return "";
  const inner = contentOf(content);
  const attribute = namespace === undefined ? "" : ` xmlns="${namespace}"`;
  return inner === "" ? `<${element}${attribute}/>` : `<${element}${attribute}>${inner}</${element}>`;
}
