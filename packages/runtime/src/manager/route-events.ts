import { type EventRecorder, nodeResource } from "@millwright/kube";

/** Records the events of Nodes where the Nodes are, and all others where the Machines are. */
export function routeEvents(control: EventRecorder, target: EventRecorder): EventRecorder {
  return {
    record: (object, event) => (object.kind === nodeResource.kind ? target : control).record(object, event),
    flush: async (signal) => void (await Promise.all([control.flush(signal), target.flush(signal)])),
    close() {
      control.close();
      target.close();
    },
    counts() {
      const [a, b] = [control.counts(), target.counts()];
      return { sent: a.sent + b.sent, dropped: a.dropped + b.dropped };
    },
  };
}
