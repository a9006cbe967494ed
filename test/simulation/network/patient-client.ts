import type { ApiClient } from "@millwright/kube";

/** Longer than the time between two bookmarks: a healthy watch is then not replaced every minute, which is most of what a simulated day costs. */
const inactivityMs = 150_000;
/** As long as kube-apiserver lets a watch last by default. Faults end watches early. */
const timeoutSeconds = 1_800;

/** The same client, which closes a silent watch later, and asks for a new one less often. */
export const withPatientWatches = (api: ApiClient): ApiClient => ({
  ...api,
  watch: (type, options, signal) => api.watch(type, { timeoutSeconds, ...options, inactivityMs }, signal),
});
