/** A value of a body with its path and type. `at` has the indices of list items, `path` does not. */
export interface BodyField {
  /** `reservationSet.item[].instancesSet` */
  readonly path: string;
  /** `reservationSet.item[0].instancesSet` */
  readonly at: string;
  readonly type: "object" | "list" | "text" | "number" | "boolean" | "time" | "null";
  /** Of text alone. */
  readonly text?: string;
}

/** The fields of a body in JSON or XML, each object before its parts; undefined for a body that is neither. */
export function flattenBody(body: string): readonly BodyField[] | undefined {
  if (body.trim() === "") return [];
  const document = body.trimStart().startsWith("<") ? parseXml(body) : parseJson(body);
  return document === undefined ? undefined : fieldsOf(document, "", "");
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text);

function fieldsOf(value: unknown, path: string, at: string): BodyField[] {
  if (value === null || value === undefined) return [{ path, at, type: "null" }];
  if (typeof value === "string") return [{ path, at, type: isTime(value) ? "time" : "text", text: value }];
  if (typeof value === "number" || typeof value === "boolean")
    return [{ path, at, type: typeof value === "number" ? "number" : "boolean" }];
  if (Array.isArray(value)) {
    return [
      { path, at, type: "list" },
      ...value.flatMap((item, index) => fieldsOf(item, `${path}[]`, `${at}[${index}]`)),
    ];
  }
  const parts = Object.entries(value).flatMap(([name, part]) =>
    fieldsOf(part, path === "" ? name : `${path}.${name}`, at === "" ? name : `${at}.${name}`),
  );
  return [{ path, at, type: "object" }, ...parts];
}

/** A tag, or the text between tags. */
const token = /<(\/?)([\w:.-]+)[^>]*?(\/?)>|([^<]+)/g;

interface Element {
  readonly name: string;
  readonly children: Element[];
  text: string;
}

/** Reads the XML of EC2's query protocol, which has no attributes that matter; `item` begins a list. Undefined for anything else. */
function parseXml(body: string): unknown {
  const root: Element = { name: "", children: [], text: "" };
  const open: Element[] = [root];
  for (const [, closes, name, closesItself, text] of body.replace(/^\s*<\?[^>]*\?>/, "").matchAll(token)) {
    const parent = open.at(-1);
    if (parent === undefined) return undefined;
    if (name === undefined) parent.text += text ?? "";
    else if (closes === "/") {
      if (open.pop()?.name !== name) return undefined;
    } else {
      const element: Element = { name, children: [], text: "" };
      parent.children.push(element);
      if (closesItself !== "/") open.push(element);
    }
  }
  return open.length === 1 ? valueOf(root) : undefined;
}

function valueOf({ children, text }: Element): unknown {
  if (children.length === 0) {
    const trimmed = text.trim();
    if (trimmed === "true" || trimmed === "false") return trimmed === "true";
    return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
  }
  if (children.every(({ name }) => name === "item")) return children.map(valueOf);
  return Object.fromEntries(children.map((child) => [child.name, valueOf(child)]));
}
