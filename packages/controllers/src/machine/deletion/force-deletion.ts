import { isGoTrue, labelKeys, type Machine, type MachineErrorCode } from "@millwright/core";

/** Whether the label `force-deletion` requests the deletion in spite of failures. */
export const isForceDeletion = ({ metadata }: Machine): boolean => isGoTrue(metadata.labels?.[labelKeys.forceDeletion]);

/**
 * Whether a driver that rejects the class cannot delete the machine at all: no id of a VM is known to it. A user has to fix the class or its
 * Secret. The label releases the machine too, which no message recommends: a VM could be orphaned.
 */
export const isBeyondDriver = ({ spec }: Machine, code: MachineErrorCode): boolean =>
  code === "InvalidArgument" && (spec.providerID ?? "") === "";
