import { labelKeys, type Machine, type MachineErrorCode } from "@millwright/core";

/** Go's boolean texts, which the label `force-deletion` accepts. */
const goTrue: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Whether someone asked to have the machine deleted whatever stands in the way (label `force-deletion`). */
export const isForceDeletion = ({ metadata }: Machine): boolean =>
  goTrue.has(metadata.labels?.[labelKeys.forceDeletion] ?? "");

/** What a person can do where nobody can tell whether there is a VM. */
export const forceWhereNoVm = `where there is none, set the label ${labelKeys.forceDeletion} to "True"`;

/**
 * Whether a driver that refuses the class, so that it cannot even look, leaves a machine for good: no VM is known of it. Its class is to be mended, or
 * somebody says that there is no VM.
 */
export const isBeyondDriver = ({ spec }: Machine, code: MachineErrorCode): boolean =>
  code === "InvalidArgument" && (spec.providerID ?? "") === "";
