import type { Remedy } from "./explanation.ts";

/** What the deletion of a namespace means for its controllers. */
export const namespaceTerminating = (namespace: string): string =>
  `Namespace ${namespace} is being deleted, and with it the Leases of its controllers and their Role. No process can take the lead, only the last leader goes on.`;

/** What a person can do when that leader has ended. */
export const terminatingNamespaceRemedy = (namespace: string): Remedy => ({
  text: `If it has ended, bind the permissions by a ClusterRoleBinding, stop all processes of namespace ${namespace}, and run one with --leader-elect=false until the namespace is deleted.`,
  commands: [`kubectl get namespace ${namespace} -o yaml`, `kubectl get millwright -n ${namespace}`],
});
