// Package inbound takes what people do in chats and brings it to the core.
//
// Its one promise (SPEC 6.7): what somebody sent is handled once, however
// often it is delivered, and neither the effect nor the reply nor the place up
// to which the chat was read is ever committed without the other two. A
// command that is one input takes its reply and the cursor into the input's
// own transaction; everything else is committed with them under the same key
// at the end. An error from Receive means that nothing was committed, and that
// the same thing has to be delivered again.
//
// Who is nobody here gets silence (SPEC 6.6). Who is let in is answered where
// they wrote; what is told to all is not said here but by package notify.
package inbound
