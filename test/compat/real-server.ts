import { type ControlPlane, startControlPlane } from "../../tools/control-plane/start-control-plane.ts";

/**
 * Starts a real kube-apiserver with the controllers whose work our server does itself. Admission does not taint new nodes, since the
 * controller that removes the taint is not part of either server here.
 *
 * @param apiServerFlags more flags of kube-apiserver
 * @param tokens bearer tokens of users without groups, by the name of the user
 */
export function startRealServer(
  signal?: AbortSignal,
  apiServerFlags: readonly string[] = [],
  tokens: Readonly<Record<string, string>> = {},
): Promise<ControlPlane> {
  return startControlPlane({
    controllers: ["garbage-collector-controller", "disruption-controller", "namespace-controller"],
    tokens,
    apiServerFlags: ["--disable-admission-plugins=TaintNodesByCondition", ...apiServerFlags],
    onBuild: (program, version) => console.log(`building ${program} ${version} with Go: takes some minutes, once`),
    ...(signal === undefined ? {} : { signal }),
  });
}
