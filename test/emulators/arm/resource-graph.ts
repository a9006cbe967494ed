import * as z from "zod";
import { type ArmAction, json, readBody } from "./call.ts";
import { ArmRefusal } from "./refusal.ts";
import type { Resource } from "./resources.ts";

const querySchema = z.strictObject({
  subscriptions: z.array(z.string()).min(1),
  query: z.string(),
  options: z
    .strictObject({ $skipToken: z.string().optional(), $top: z.int().optional(), resultFormat: z.string().optional() })
    .optional(),
});

/** The supported query: types, a resource group, and terms in tag keys. */
const shape =
  /^\s*Resources\s*\|\s*where type =~ '([^']+)'((?:\s+or type =~ '[^']+')*)\s*\|\s*where resourceGroup =~ '([^']+)'((?:\s*\|\s*extend tagKeys = bag_keys\(tags\)\s*)?(?:\s*\|\s*where tagKeys has '[^']+'(?:\s+and tagKeys has '[^']+')*)?)\s*\|\s*project type, name\s*$/i;

const quoted = (text: string): readonly string[] =>
  [...text.matchAll(/'([^']+)'/g)].map(([, inner = ""]) => inner.toLowerCase());

/** KQL's `has`: whole alphanumeric terms, so that `cluster-a` is also found in `cluster-a-b`. */
function hasTerm(keys: readonly string[], term: string): boolean {
  const isPartOfTerm = (character: string): boolean => /[a-z0-9]/.test(character);
  return keys.some((key) => {
    const text = key.toLowerCase();
    for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
      if (!isPartOfTerm(text.charAt(at - 1)) && !isPartOfTerm(text.charAt(at + term.length))) return true;
    }
    return false;
  });
}

/** POST of a query. Shows creations and deletions with a delay. */
export const queryGraph: ArmAction = (call) => {
  const { world } = call;
  const { query, options = {} } = readBody(call, querySchema);
  const [, first = "", others = "", group = "", conditions = ""] = shape.exec(query) ?? [];
  if (first === "")
    throw new ArmRefusal("BadRequest", "Please provide below info when asking for support: InvalidQuery.");
  const types = new Set([first.toLowerCase(), ...quoted(others)]);
  const terms = quoted(conditions);
  const lagMs = world.options.graphLagMs ?? 0;
  const living = (type: string, resources: Iterable<Resource>) =>
    [...resources]
      .filter(({ createdAtMs }) => createdAtMs + lagMs <= world.nowMs())
      .map(({ name, group, tags }) => ({ type, name, group, tags }));
  const rows = [
    ...living("microsoft.compute/virtualmachines", world.vms.values()),
    ...living("microsoft.network/networkinterfaces", world.nics.values()),
    ...living("microsoft.compute/disks", world.disks.values()),
    ...world.gone
      .filter(({ goneAtMs }) => goneAtMs + lagMs > world.nowMs())
      .map((row) => ({ ...row, type: row.type.toLowerCase() })),
  ].filter(
    (row) =>
      types.has(row.type) &&
      row.group === group.toLowerCase() &&
      terms.every((term) => hasTerm(Object.keys(row.tags), term)),
  );
  const size = world.options.pageSize ?? 100;
  const from = Number(options.$skipToken ?? "0");
  const data = rows.slice(from, from + size).map(({ type, name }) => ({ type, name }));
  return json(200, {
    totalRecords: rows.length,
    count: data.length,
    data,
    facets: [],
    resultTruncated: "false",
    ...(from + size < rows.length ? { $skipToken: String(from + size) } : {}),
  });
};
