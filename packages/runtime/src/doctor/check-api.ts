import { type Clock, isRecord } from "@millwright/base";
import type { CheckOutcome } from "@millwright/core";
import { type ApiClient, messageOf } from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import { checkClock } from "./check-clock.ts";

/** The part of a client that checks of a cluster use. */
export type CheckedApi = Pick<ApiClient, "get" | "list" | "request">;

/** The result of the first requests to a cluster. */
export interface ApiCheck {
  /** Whether further checks make sense. */
  readonly isReachable: boolean;
  readonly checks: readonly CheckOutcome[];
}

const textAt = (value: unknown, ...path: readonly string[]): string => {
  const found = path.reduce<unknown>((object, key) => (isRecord(object) ? object[key] : undefined), value);
  return typeof found === "string" ? found : "";
};

/** The user of the kubeconfig, as the API server sees it; empty where the server is older than Kubernetes 1.28, which has no such review. */
async function userOf(api: CheckedApi, signal: AbortSignal): Promise<string> {
  try {
    const { body } = await api.request({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      signal,
    });
    return textAt(body, "status", "userInfo", "username");
  } catch {
    signal.throwIfAborted();
    return "";
  }
}

/** Checks that an API server answers and takes the credentials, and compares its clock with ours. */
export async function checkApi(api: CheckedApi, clock: Clock, signal: AbortSignal): Promise<ApiCheck> {
  const name = "API server";
  const sentMs = clock.now().getTime();
  try {
    const { body, date } = await api.request({ method: "GET", path: "/version", signal });
    const receivedMs = clock.now().getTime();
    const user = await userOf(api, signal);
    const version = textAt(body, "gitVersion") || "an unknown version";
    const message = `It answers with ${version}${user === "" ? "" : ` to user "${user}"`}.`;
    return {
      isReachable: true,
      checks: [{ name, status: "ok", message }, checkClock({ sentMs, receivedMs, date })],
    };
  } catch (error) {
    signal.throwIfAborted();
    const message = messageOf(explainFailure(error, "doctor needs to get the path /version"));
    const remedy = "Check the address and the credentials of the kubeconfig, and the network to the API server.";
    return { isReachable: false, checks: [{ name, status: "failed", message, remedy }] };
  }
}
