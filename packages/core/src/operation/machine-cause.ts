import { storedMachineConditionTypes } from "../wire/condition-types.ts";
import { phaseOf } from "../wire/phases.ts";
import { readOperation, type WithLastOperation } from "./read-operation.ts";

/** The fields of a Machine that {@link machineCause} reads. */
export interface MachineWithCause {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string | null | undefined };
  readonly status?:
    | {
        readonly currentStatus?: { readonly phase?: string };
        readonly lastOperation?: NonNullable<WithLastOperation["lastOperation"]> & {
          readonly state?: string;
          readonly type?: string;
        };
        readonly conditions?: readonly {
          readonly type: string;
          readonly status: string;
          readonly message?: string | undefined;
        }[];
      }
    | undefined;
}

/** The lines of a condition's message in one, without bullets and the types of the conditions that it sums up. */
const inOneLine = (message: string): string =>
  message
    .split("\n")
    .map((line) => line.replace(/^\s*\* (?:[A-Z]\w+: ?)?/, "").trim())
    .filter((line) => line !== "")
    .join(". ");

/** What a machine that joins waits for, and until when; `undefined` for another one. */
function waitOf({ metadata, status = {} }: MachineWithCause): string | undefined {
  if (phaseOf({ status }) !== "Pending" || metadata.deletionTimestamp != null) return undefined;
  if (status.lastOperation?.state === "Failed") return undefined;
  const ready = status.conditions?.find(({ type }) => type === storedMachineConditionTypes.machineReady);
  return ready?.status === "True" ? undefined : ready?.message;
}

/**
 * Why a machine is where it is, for a line of a list that has its name already: what its last operation reports, without MCM's wrapping of errors; while it joins, what MachineReady
 * waits for, and until when. MCM describes a machine that joins as one whose VM is created.
 */
export function machineCause(machine: MachineWithCause): string {
  const { metadata, status } = machine;
  const { description = "", state, type } = status?.lastOperation ?? {};
  // What was before its deletion was requested explains nothing any more.
  if (metadata.deletionTimestamp != null && state === "Successful" && type !== "Delete") return "Deletion requested";
  const wait = inOneLine(waitOf(machine) ?? "");
  if (wait !== "") return wait;
  const { code, message } = readOperation(status);
  if (code !== undefined && message !== undefined) return `${code}: ${message}`;
  const prefix = `Machine ${metadata.name} `;
  return description.startsWith(prefix) ? description.slice(prefix.length) : description;
}
