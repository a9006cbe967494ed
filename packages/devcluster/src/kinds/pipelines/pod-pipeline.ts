import {
  arrayAt,
  at,
  entriesOf,
  field,
  isObject,
  type Json,
  type JsonObject,
  objectAt,
  stringAt,
} from "../../json/json.ts";
import { duplicateValue, notSupported, required } from "../../errors/field-errors.ts";
import type { Cause } from "../../errors/status-error.ts";
import { qualifiedNameErrors } from "../../objects/names.ts";
import { builtInPipeline } from "./built-in-pipeline.ts";
import { podConditionProblems, podUpdateProblems } from "./pod-updates.ts";

function withContainerDefaults(container: Json): Json {
  if (!isObject(container)) return container;
  const ports = arrayAt(container, "ports").map((port) => (isObject(port) ? { protocol: "TCP", ...port } : port));
  const limits = objectAt(container, "resources", "limits");
  const requests = { ...limits, ...objectAt(container, "resources", "requests") };
  const resources = { ...objectAt(container, "resources"), ...(entriesOf(requests).length === 0 ? {} : { requests }) };
  return {
    imagePullPolicy: /:[^/]*$/.test(stringAt(container, "image") ?? "") ? "IfNotPresent" : "Always",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ...container,
    resources,
    ...(ports.length === 0 ? {} : { ports }),
  };
}

/** The defaults of a pod's spec, also in templates. */
export function withTemplateDefaults(spec: JsonObject): JsonObject {
  const containers = field(spec, "containers");
  const account = stringAt(spec, "serviceAccountName") || stringAt(spec, "serviceAccount");
  return {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    ...spec,
    ...(account ? { serviceAccountName: account, serviceAccount: account } : {}),
    ...(Array.isArray(containers) ? { containers: containers.map(withContainerDefaults) } : {}),
  };
}

const restartPolicies = ["Always", "OnFailure", "Never"];

/** Validates the spec of a pod, or of a template at `prefix`. */
export function podProblems(pod: Json | undefined, prefix = ""): readonly Cause[] {
  const path = `${prefix}spec`;
  const containers = arrayAt(pod, "spec", "containers");
  if (containers.length === 0) return [required(`${path}.containers`)];
  const policy = stringAt(pod, "spec", "restartPolicy");
  const names = containers.map((container) => stringAt(container, "name"));
  return [
    ...containers.flatMap((container, index) => [
      ...["name", "image"].flatMap((key) =>
        stringAt(container, key) ? [] : [required(`${path}.containers[${index}].${key}`)],
      ),
      ...(names[index] !== undefined && names.indexOf(names[index]) < index
        ? [duplicateValue(`${path}.containers[${index}].name`, names[index])]
        : []),
    ]),
    ...(policy === undefined || restartPolicies.includes(policy)
      ? []
      : [notSupported(`${path}.restartPolicy`, policy, restartPolicies)]),
  ];
}

/** The tolerations that admission adds by default: five minutes on a failed node. */
const defaultTolerations = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map((key) => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));

/** Both forms of the address, and the times in conditions that Go writes even when they are empty. */
function withStatusDefaults(status: JsonObject): JsonObject {
  const conditions = arrayAt(status, "conditions").map((condition) =>
    isObject(condition) ? { lastProbeTime: null, lastTransitionTime: null, ...condition } : condition,
  );
  const kinds = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
  const states = kinds.flatMap((key) => {
    const list = arrayAt(status, key).map((state) =>
      isObject(state) ? { lastState: {}, state: {}, ...state } : state,
    );
    return list.length === 0 ? [] : [[key, list] as const];
  });
  const ip = stringAt(status, "podIP");
  return {
    ...status,
    ...Object.fromEntries(states),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(ip && at(status, "podIPs") === undefined ? { podIPs: [{ ip }] } : {}),
  };
}

/** Pods: the defaults that kubelets and drains read, and containers with names and images. */
export const podPipeline = builtInPipeline({
  prepare(pod) {
    const spec = field(pod, "spec");
    if (!isObject(spec)) return pod;
    const status = field(pod, "status");
    return {
      ...pod,
      spec: { enableServiceLinks: true, ...withTemplateDefaults(spec) },
      ...(isObject(status) ? { status: withStatusDefaults(status) } : {}),
    };
  },
  complete,
  validate(pod, live, part) {
    if (live === undefined) return podProblems(pod);
    // Both with the defaults of admission, which are not a change.
    if (part !== "status") {
      const changes = podUpdateProblems(objectAt(complete(pod), "spec"), objectAt(complete(live), "spec"));
      return [...podProblems(pod), ...changes];
    }
    return podConditionProblems(pod, qualifiedNameErrors);
  },
});

/** The fields that admission and the storage layer add. */
function complete(pod: JsonObject): JsonObject {
  const spec = objectAt(pod, "spec");
  const tolerations = arrayAt(spec, "tolerations");
  const missing = defaultTolerations.filter(
    ({ key }) =>
      !tolerations.some((toleration) => {
        const own = stringAt(toleration, "key") ?? "";
        const effect = stringAt(toleration, "effect") ?? "";
        return (own === key || own === "") && (effect === "NoExecute" || effect === "");
      }),
  );
  return {
    ...pod,
    spec: {
      priority: 0,
      preemptionPolicy: "PreemptLowerPriority",
      serviceAccountName: "default",
      serviceAccount: "default",
      ...spec,
      tolerations: [...tolerations, ...missing],
    },
    status: { phase: "Pending", qosClass: qosClassOf(spec), ...objectAt(pod, "status") },
  };
}

/** Guaranteed when every container has equal requests and limits of both resources, BestEffort when none has any. */
function qosClassOf(spec: JsonObject): string {
  const resources = [...arrayAt(spec, "containers"), ...arrayAt(spec, "initContainers")].map((container) => ({
    limits: objectAt(container, "resources", "limits"),
    requests: objectAt(container, "resources", "requests"),
  }));
  const counted = ["cpu", "memory"];
  const hasAny = resources.some(({ limits, requests }) =>
    counted.some((name) => at(limits, name) !== undefined || at(requests, name) !== undefined),
  );
  if (!hasAny) return "BestEffort";
  const isGuaranteed = resources.every(({ limits, requests }) =>
    counted.every(
      (name) => at(limits, name) !== undefined && at(limits, name) === (at(requests, name) ?? at(limits, name)),
    ),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}
