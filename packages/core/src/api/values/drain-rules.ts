import * as z from "zod";
import { type FieldProblem, joinPath } from "../problems/field-problem.ts";
import { problemsOf } from "../problems/schema-problems.ts";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { labelSelectorSchema } from "./label-selector-schema.ts";
import { parseLabelSelector } from "./label-selector.ts";

const drainRuleSchema = z.strictObject({
  /** Which pods, by label; absent: all. */
  selector: labelSelectorSchema("Pods by label.").exactOptional(),
  /** Namespaces of the pods; absent: all. */
  namespaces: z.array(z.string()).exactOptional(),
  /** What a drain does about them: evict, leave alone, or wait until they have run to completion. */
  behavior: z.enum(["Drain", "Skip", "WaitCompleted"]).default("Drain"),
  /** Pods of a lower order leave first; those of the next order are only touched when they are gone. */
  order: z.int32().default(0),
});

/**
 * One rule of an ordered drain, written as JSON into the annotation `machine.millwright.dev/drain-rules` of a Machine or its MachineClass. The first rule that
 * selects a pod holds for it. Meaning and words are those of Cluster API's MachineDrainRule.
 */
export type DrainRule = DeepReadonly<z.infer<typeof drainRuleSchema>>;

/** What reading the rules gave. */
export type ReadDrainRulesResult =
  | { readonly ok: true; readonly rules: readonly DrainRule[] }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** More rules than a person oversees; each is matched against each pod of a node. */
const maxRules = 100;

/** Reads the rules of an ordered drain from the text of the annotation. `path` is put before the paths of the problems. Never throws. */
export function readDrainRules(text: string, path: string): ReadDrainRulesResult {
  const reject = (message: string): ReadDrainRulesResult => ({
    ok: false,
    problems: [{ path, message, kind: "invalid" }],
  });
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return reject('must be a JSON list of rules such as [{"behavior":"Skip","namespaces":["monitoring"]}]');
  }
  const result = z.array(drainRuleSchema).max(maxRules).safeParse(raw);
  if (!result.success) {
    const problems = problemsOf(result.error.issues, raw).map((problem) => ({
      ...problem,
      path: problem.path.startsWith("[") || problem.path === "" ? `${path}${problem.path}` : `${path}.${problem.path}`,
    }));
    return { ok: false, problems };
  }
  const problems = result.data.flatMap(({ selector }, index) => {
    if (selector === undefined) return [];
    const parsed = parseLabelSelector(selector, `${joinPath(path, index)}.selector`);
    return parsed.ok ? [] : parsed.problems;
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, rules: result.data };
}
