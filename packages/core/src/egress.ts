/** Requests that leave this machine, for drivers: which proxy they go through, and how. */
export * from "@millwright/base/egress";
