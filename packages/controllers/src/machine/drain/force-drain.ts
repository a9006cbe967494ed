import { capitalTrue, labelKeys, type Machine } from "@millwright/core";

/** Whether someone asked to force the drain of a machine that stays (label `force-drain`). */
export const isForceDrain = ({ metadata }: Machine): boolean => metadata.labels?.[labelKeys.forceDrain] === capitalTrue;
