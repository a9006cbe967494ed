import { ConfigError } from "@millwright/base";
import type { NodeIdentity, NodeMatch, VmIdentity } from "./node-match.ts";

/** One part of a template between slashes: a text, or a placeholder; `name` is empty for `{_}`. */
type Segment = { readonly text: string } | { readonly name: string };

/** What the placeholders of a template stand for in a provider id, in lower case. */
type Values = ReadonlyMap<string, string>;

function readSegment(segment: string, template: string): Segment {
  const [, name] = /^\{(_|[a-z][a-z0-9-]*)\}$/i.exec(segment) ?? [];
  if (name !== undefined) return { name: name === "_" ? "" : name };
  if (/[{}]/.test(segment))
    throw new ConfigError(`template "${template}": a placeholder must be a whole path segment, such as {name} or {_}`);
  return { text: segment.toLowerCase() };
}

const readTemplate = (template: string): readonly Segment[] =>
  template.split("/").map((segment) => readSegment(segment, template));

/** Reads a provider id; undefined when it has another form. Linear in the length of the id: templates of drivers are not trusted. */
function valuesIn(providerId: string, template: readonly Segment[]): Values | undefined {
  const segments = providerId.toLowerCase().split("/");
  if (segments.length !== template.length) return undefined;
  const values = new Map<string, string>();
  for (const [index, part] of template.entries()) {
    const segment = segments[index] ?? "";
    if ("text" in part) {
      if (part.text !== segment) return undefined;
    } else {
      if (segment === "") return undefined;
      if (part.name !== "") values.set(part.name, segment);
    }
  }
  return values;
}

/**
 * Makes a `matchNode` from forms of provider ids, such as `gce:///{_}/{zone}/{name}` and `gce://{_}/{zone}/{name}`. `{name}` stands for one path segment, `{_}` for one whose value does not
 * matter; all else is compared ignoring case. Each of the two ids is read by the first template that fits. `same` if all placeholders that both have agree, `different` if one
 * does not, `unknown` if an id fits no template or they have no placeholder in common.
 *
 * @throws ConfigError for a template with a placeholder that is not a whole segment
 */
export function matchNodeByTemplates(
  templates: readonly string[],
): (vm: Pick<VmIdentity, "providerId">, node: Pick<NodeIdentity, "providerId">) => NodeMatch {
  const known = templates.map(readTemplate);
  const read = (providerId: string): Values | undefined => {
    for (const template of known) {
      const values = valuesIn(providerId, template);
      if (values !== undefined) return values;
    }
    return undefined;
  };
  return (vm, node) => {
    const [a, b] = [read(vm.providerId), read(node.providerId)];
    const common = [...(a?.keys() ?? [])].filter((name) => b?.has(name) === true);
    if (common.length === 0) return "unknown";
    return common.every((name) => a?.get(name) === b?.get(name)) ? "same" : "different";
  };
}
