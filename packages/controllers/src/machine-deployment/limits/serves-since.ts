import type { Machine } from "@millwright/core";

/** Since when, in milliseconds, a machine is in the phase that it is in: the machine controller moves that time with the phase only. */
export const servesSince = ({ status, metadata }: Machine): number => {
  const since = Date.parse(status?.currentStatus?.lastUpdateTime ?? metadata.creationTimestamp ?? "");
  return Number.isNaN(since) ? 0 : since;
};
