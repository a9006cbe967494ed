import { isGoTrue, labelKeys, type Machine } from "@millwright/core/machine-api";

/** Whether the label `force-deletion` requests the deletion in spite of failures. */
export const isForceDeletion = ({ metadata }: Machine): boolean => isGoTrue(metadata.labels?.[labelKeys.forceDeletion]);
