/** Names of the profiles. */
export const profileNames = ["offline", "sandbox", "soak"] as const;

/** Where a run takes place: against an emulator, with few VMs in a real cloud, or with many calls. */
export type ProfileName = (typeof profileNames)[number];

/** Sizes and times of a run. Times are in milliseconds. */
export interface Profile {
  /** Deadline of each call. */
  readonly deadlineMs: number;
  /** For how long the cloud may take until it shows a change. */
  readonly settleMs: number;
  /** VMs that exist at once. */
  readonly maxVms: number;
  /** VMs that are created in the whole run. */
  readonly maxCreations: number;
  /** VMs that the fixture may stage at once. */
  readonly maxStagedVms: number;
  /** Sequential calls of `load.no-leaks`; a fifth of them runs in parallel. */
  readonly loadCalls: number;
  /** Machines of `load.random-faults`. */
  readonly faultMachines: number;
  /** Whether names that do not contain the id of the run may be used. */
  readonly anyNames: boolean;
  /** Leftovers of runs that started longer ago are deleted first; undefined: none are. */
  readonly sweepAfterMs: number | undefined;
}

const hourMs = 3_600_000;

/** Sizes and times by profile. */
export const profiles: Readonly<Record<ProfileName, Profile>> = {
  offline: {
    deadlineMs: 60_000,
    settleMs: 10_000,
    maxVms: 50,
    maxCreations: Number.POSITIVE_INFINITY,
    maxStagedVms: Number.POSITIVE_INFINITY,
    loadCalls: 1_000,
    faultMachines: 6,
    anyNames: true,
    sweepAfterMs: undefined,
  },
  sandbox: {
    deadlineMs: 300_000,
    settleMs: 300_000,
    maxVms: 5,
    maxCreations: 200,
    maxStagedVms: 0,
    loadCalls: 100,
    faultMachines: 3,
    anyNames: false,
    sweepAfterMs: 2 * hourMs,
  },
  soak: {
    deadlineMs: 300_000,
    settleMs: 300_000,
    maxVms: 50,
    maxCreations: 2_000,
    maxStagedVms: 0,
    loadCalls: 10_000,
    faultMachines: 40,
    anyNames: false,
    sweepAfterMs: 2 * hourMs,
  },
};
