import type { ApiClient } from "@millwright/kube";

/** Longer than the time between two bookmarks: a healthy watch is then not replaced every minute, which is most of what a simulated day costs. */
const inactivityMs = 150_000;

/** The same client, which closes a silent watch later. */
export const withPatientWatches = (api: ApiClient): ApiClient => ({
  ...api,
  watch: (type, options, signal) => api.watch(type, { ...options, inactivityMs }, signal),
});
