/**
 * Writes bots for Card Arena: {@link cardarena.CardArena} is where to begin.
 *
 * <p>No parameter may be null and no result is, but where it says so; what may be missing is an
 * {@link java.util.Optional}, or empty.
 */
package cardarena;
