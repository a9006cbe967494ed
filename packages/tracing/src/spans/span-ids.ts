import { createHash } from "node:crypto";

/** The two traces of a machine: from its creation until it runs, and from the request for its deletion until it is gone. */
export type TraceName = "create" | "delete";

/** Ids of a trace and its root span, in hexadecimal. */
export interface TraceIds {
  readonly traceId: string;
  readonly rootSpanId: string;
}

/** An id of zeros is invalid; no one meets a hash of zeros. */
const hashOf = (text: string, digits: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, digits);

/**
 * The ids of a trace of a machine. They depend on its UID only, so a process that takes over goes on in the same trace, and a user who has the UID finds it.
 * They are as random as the UID, which samplers require.
 */
export const traceIdsOf = (uid: string, trace: TraceName): TraceIds => ({
  traceId: hashOf(`millwright/${uid}/${trace}`, 32),
  rootSpanId: hashOf(`millwright/${uid}/${trace}/root`, 16),
});
