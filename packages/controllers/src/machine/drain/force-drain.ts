import { capitalTrue, labelKeys, type Machine } from "@millwright/core";

/** Whether the label `force-drain` requests to force the drain of a machine that is not being deleted. */
export const isForceDrain = ({ metadata }: Machine): boolean => metadata.labels?.[labelKeys.forceDrain] === capitalTrue;
