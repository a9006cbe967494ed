import { exampleName } from "./example.ts";
import type { Workspace } from "./workspace.ts";

/** The lines above the table: where everything is. */
export const startedMessage = (url: string, dashboardUrl: string, kubeconfig: string): string => `
Millwright runs here: API server ${url}, simulated cloud
Dashboard: ${dashboardUrl}
kubeconfig: ${kubeconfig}
`;

const withExample = `  # What a change would lead to; nothing is written
  millwright plan --scale ${exampleName}=5
  kubectl scale machinedeployment ${exampleName} --replicas=5
  # A rolling update
  kubectl patch machinedeployment ${exampleName} --type=merge \\
    -p '{"spec":{"template":{"spec":{"class":{"name":"${exampleName}-large"}}}}}'
`;

/** Things to try, ready to be copied, within 80 columns; some of them only with the example. */
export const suggestedCommands = (kubeconfig: string, hasExample: boolean): string => `
In another terminal; in a clone, millwright is tools/millwright
  export KUBECONFIG=${kubeconfig}
  millwright top
${hasExample ? withExample : ""}  # Its machine is drained and replaced
  kubectl delete node NAME
  # Its machine becomes Unknown in 40 s, and Failed after its health timeout
  echo '{"kind":"kubelet-stops","nodes":["NAME"]}' |
    kubectl create --raw /millwright/cluster-faults -f -
  kubectl delete --raw /millwright/cluster-faults
  # How far it is, what it waits for, and what would help
  millwright describe deployment NAME
  millwright why machine/NAME
  # Whether controllers run, and what else is wrong
  millwright doctor
Ctrl-C stops everything.
`;

/** The last line: whether anything is kept. */
export const stoppedMessage = ({ isTemporary, folder }: Pick<Workspace, "isTemporary" | "folder">): string =>
  isTemporary ? "Stopped; all data is removed.\n" : `Stopped; the cluster and its machines are kept in ${folder}.\n`;
