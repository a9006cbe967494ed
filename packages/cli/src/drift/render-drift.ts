import type { DriftReport, MachineDrift } from "@millwright/runtime";
import { plain, section, table } from "../terminal/text.ts";

const countOf = (machines: readonly MachineDrift[], outcome: MachineDrift["outcome"]): number =>
  machines.filter((each) => each.outcome === outcome).length;

const titleOf = ({ machine, machineClass, providerId }: MachineDrift): string =>
  plain(
    `${machine} (${[machineClass === "" ? "" : `class ${machineClass}`, providerId].filter((part) => part !== "").join(", ")})`,
  );

/** A value may be empty, long, or contain spaces: JSON shows where it ends. */
const valueOf = (text: string): string => (text === "" ? "-" : plain(JSON.stringify(text)));

function linesOf(drift: MachineDrift): readonly string[] {
  if (drift.outcome !== "drifted") return [plain(drift.because ?? "")];
  return table([
    ["FIELD", "CLASS", "VM"],
    ...drift.differences.map(({ field, wanted, found }) => [plain(field), valueOf(wanted), valueOf(found)]),
  ]);
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function summaryOf(machines: readonly MachineDrift[]): string {
  if (machines.length === 0) return "There are no machines.";
  const parts = [
    `${countOf(machines, "drifted")} of ${plural(machines.length, "machine")} drifted`,
    ...(["failed", "skipped"] as const)
      .filter((outcome) => countOf(machines, outcome) > 0)
      .map((outcome) => `${countOf(machines, outcome)} ${outcome}`),
  ];
  return `${parts.join(", ")}.`;
}

/** The drift report as text. Machines without drift are counted and not listed. */
export function renderDrift({ machines }: DriftReport): string {
  const noteworthy = (outcome: MachineDrift["outcome"], suffix: string): readonly string[] =>
    machines
      .filter((each) => each.outcome === outcome)
      .flatMap((each) => section(`${titleOf(each)}${suffix}`, linesOf(each)));
  return [
    ...noteworthy("drifted", ""),
    ...noteworthy("failed", " could not be compared"),
    ...noteworthy("skipped", " was skipped"),
    summaryOf(machines),
    "",
  ].join("\n");
}
