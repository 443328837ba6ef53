/**
 * SDK for bots of Card Arena. {@link cardarena.CardArena} is the class to start with.
 *
 * <p>Unless a comment says otherwise, no parameter may be null and no result is null. What may be
 * missing is an {@link java.util.Optional}, or empty.
 */
package cardarena;
