import { labelKeys, type Machine } from "@millwright/core";

/** Go's boolean texts, which the label `force-deletion` accepts. */
const goTrue: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Whether someone asked to have the machine deleted whatever stands in the way (label `force-deletion`). */
export const isForceDeletion = ({ metadata }: Machine): boolean =>
  goTrue.has(metadata.labels?.[labelKeys.forceDeletion] ?? "");
