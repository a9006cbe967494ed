import type { RenderedPod } from "./rendered-chart.ts";

/** Source: OpenShift, "Managing security context constraints", and the constraint `restricted-v2` of a new cluster. */
const volumeKinds = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** What the SecurityContextConstraints `restricted-v2` refuse in a pod: what it would fill in may be missing, and what is there must be in the range of the namespace, which is never known here. */
export function restrictedV2Problems(pod: RenderedPod): readonly string[] {
  const problems: string[] = [];
  const check = (isRefused: boolean, problem: string): void => {
    if (isRefused) problems.push(problem);
  };
  const context = pod.securityContext;
  check(context["runAsUser"] !== undefined, `runAsUser ${String(context["runAsUser"])}`);
  check(context["fsGroup"] !== undefined, `fsGroup ${String(context["fsGroup"])}`);
  check(context["seLinuxOptions"] !== undefined, "seLinuxOptions");
  const profile = (each: Readonly<Record<string, unknown>>): unknown => Object(each["seccompProfile"]).type;
  check(![undefined, "RuntimeDefault"].includes(profile(context) as string), "seccompProfile");
  for (const name of ["hostNetwork", "hostPID", "hostIPC"]) check(pod[name] === true, name);
  for (const { name, ...kind } of pod.volumes)
    for (const each of Object.keys(kind)) check(!volumeKinds.has(each), `volume ${name} is a ${each}`);
  for (const { name, securityContext: own, ports } of [...pod.initContainers, ...pod.containers]) {
    check(own["privileged"] === true, `${name} is privileged`);
    // `false` is filled in only where it is missing.
    check(own["allowPrivilegeEscalation"] === true, `${name} allows privilege escalation`);
    check(own["runAsUser"] !== undefined, `${name} has a user`);
    const { add = [] } = Object(own["capabilities"]) as { readonly add?: readonly string[] };
    check(
      add.some((capability) => capability !== "NET_BIND_SERVICE"),
      `${name} adds capabilities`,
    );
    check(
      Array.isArray(ports) && ports.some((port) => Object(port).hostPort !== undefined),
      `${name} has a port of the host`,
    );
  }
  return problems;
}
