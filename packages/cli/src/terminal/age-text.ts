/** An age as kubectl prints it (Kubernetes, `apimachinery/pkg/util/duration` HumanDuration): two units while the greater one is small. */
export function ageText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const both = (first: string, rest: number, unit: string): string => (rest === 0 ? first : `${first}${rest}${unit}`);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return both(`${minutes}m`, seconds % 60, "s");
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return both(`${hours}h`, minutes % 60, "m");
  if (days < 2) return `${hours}h`;
  return days < 8 ? both(`${days}d`, hours % 24, "h") : `${days}d`;
}
