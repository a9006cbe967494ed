import type { SecretData } from "@millwright/base";
import type { MachineClass } from "@millwright/core/machine-api";
import type { ClassProblem, MachineDriver } from "../model/driver-port.ts";
import type { ResolvedClass } from "./class-view.ts";

/** Whether a driver accepts a class and its Secret. */
export type ClassVerdict =
  | { readonly state: "accepted" }
  | { readonly state: "rejected"; readonly problem: ClassProblem };

/** The verdicts of drivers about classes, in memory: each version of a class and its Secrets is checked once, whatever the number of its machines. */
export interface ClassChecks extends Pick<MachineDriver, "missingDriver"> {
  /** The verdict about a usable class; `undefined` while it is not known. */
  verdictOf(resolved: ResolvedClass): ClassVerdict | undefined;
  /** Checks the class of `resolved`, if it is usable. Makes no call to a cloud; never rejects. */
  check(resolved: ResolvedClass): Promise<ClassVerdict>;
}

interface Entry {
  readonly inputs: string;
  readonly checked: Promise<ClassVerdict>;
  verdict?: ClassVerdict;
}

const accepted: ClassVerdict = { state: "accepted" };

/** Makes the record of checks by a driver. */
export function createClassChecks(driver: Pick<MachineDriver, "missingDriver" | "rejectionOf">): ClassChecks {
  /** By object: an obsolete version is forgotten with it. */
  const entries = new WeakMap<MachineClass, Entry>();

  const verdictFor = async (machineClass: MachineClass, secret: SecretData): Promise<ClassVerdict> => {
    try {
      const problem = await driver.rejectionOf(machineClass, secret);
      return problem === undefined ? accepted : { state: "rejected", problem };
    } catch {
      // The call of the driver reports what is wrong.
      return accepted;
    }
  };
  const entryOf = ({ view, inputs }: ResolvedClass): Entry | undefined => {
    const entry = view.state === "usable" ? entries.get(view.machineClass) : undefined;
    return entry?.inputs === inputs ? entry : undefined;
  };

  return {
    missingDriver: (machineClass) => driver.missingDriver(machineClass),
    verdictOf: (resolved) => entryOf(resolved)?.verdict,
    async check(resolved) {
      const known = entryOf(resolved);
      if (known !== undefined) return known.checked;
      const { view, inputs, secret } = resolved;
      if (view.state === "unusable") return { state: "rejected", problem: view };
      const { machineClass } = view;
      const checked = verdictFor(machineClass, secret).then((verdict) => (entry.verdict = verdict));
      const entry: Entry = { inputs, checked };
      entries.set(machineClass, entry);
      return checked;
    },
  };
}

/** Whether the class of a machine that needs a VM has to be checked before a decision. */
export const isUnchecked = (resolved: ResolvedClass, checks: ClassChecks | undefined): boolean =>
  checks !== undefined &&
  resolved.view.state === "usable" &&
  resolved.view.unmetPrecondition === undefined &&
  checks.verdictOf(resolved) === undefined;

/** The class as a machine that needs a VM sees it: one that the driver rejects prevents the creation. */
export function withVerdict(resolved: ResolvedClass, checks: ClassChecks | undefined): ResolvedClass {
  const { view } = resolved;
  if (view.state === "unusable" || view.unmetPrecondition !== undefined) return resolved;
  const verdict = checks?.verdictOf(resolved);
  return verdict?.state === "rejected"
    ? { ...resolved, view: { ...view, unmetPrecondition: verdict.problem } }
    : resolved;
}
