import { exampleName } from "./example.ts";
import type { Workspace } from "./workspace.ts";

/** The lines above the table: where everything is. */
export const startedMessage = (url: string, dashboardUrl: string, kubeconfig: string): string => `
Millwright runs on this machine: an API server at ${url}, a simulated cloud, and the controllers.
Dashboard: ${dashboardUrl}
kubeconfig: ${kubeconfig}
`;

const withExample = `  millwright plan --scale ${exampleName}=5                       # what that would lead to; nothing is written
  kubectl scale machinedeployment ${exampleName} --replicas=5
  kubectl patch machinedeployment ${exampleName} --type=merge \\
    -p '{"spec":{"template":{"spec":{"class":{"name":"${exampleName}-large"}}}}}'      # a rolling update
`;

/** Things to try, ready to be copied; some of them only with the example. */
export const suggestedCommands = (kubeconfig: string, hasExample: boolean): string => `
In another terminal:
  export KUBECONFIG=${kubeconfig}
  kubectl get machines -w
${hasExample ? withExample : ""}  kubectl delete node NAME                                   # its machine is drained and replaced
  echo '{"kind":"kubelet-stops","nodes":["NAME"]}' | kubectl create --raw /millwright/cluster-faults -f -   # Unknown in 40 s
  kubectl delete --raw /millwright/cluster-faults                  # ... and Running again, unless its health timeout has passed
To see how far a rollout is, and what a machine is doing and why (in a checkout: npm run -s millwright -- ...):
  millwright describe deployment NAME
  millwright describe machine NAME
  millwright drain --dry-run NAME                            # what a drain of this node would do, and what would block it 
Ctrl-C stops everything.
`;

/** The last line: whether anything is kept. */
export const stoppedMessage = ({ isTemporary, folder }: Pick<Workspace, "isTemporary" | "folder">): string =>
  isTemporary ? "Stopped; all data is removed.\n" : `Stopped; the cluster and its machines are kept in ${folder}.\n`;
