// SPDX-License-Identifier: Apache-2.0
#include "run/inside/network_setup.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "run/inside/credential_server.h"

namespace meridian::run {
namespace {

constexpr char kAddress[] = "10.77.0.1";
constexpr char kNetmask[] = "255.255.255.0";

// A netlink request under construction: attributes nest by remembering where they began.
class Request {
 public:
  Request(std::uint16_t type, std::uint16_t flags) {
    auto* header = append<nlmsghdr>();
    header->nlmsg_type = type;
    header->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    append<ifinfomsg>();
  }

  std::size_t begin(std::uint16_t type) {
    const std::size_t at = size_;
    auto* attribute = append<rtattr>();
    attribute->rta_type = type;
    return at;
  }
  void end(std::size_t at) {
    reinterpret_cast<rtattr*>(bytes_ + at)->rta_len = static_cast<std::uint16_t>(size_ - at);
  }
  void add(std::uint16_t type, const std::string& text) {
    const std::size_t at = begin(type);
    std::memcpy(bytes_ + size_, text.c_str(), text.size() + 1);
    size_ += text.size() + 1;
    end(at);
    size_ = RTA_ALIGN(size_);
  }
  void add_interface_header() { append<ifinfomsg>(); }

  // Sends it and returns the kernel's errno.
  int send() {
    reinterpret_cast<nlmsghdr*>(bytes_)->nlmsg_len = static_cast<std::uint32_t>(size_);
    const base::UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!socket || ::send(socket.get(), bytes_, size_, 0) < 0) return errno;
    alignas(nlmsghdr) char answer[4096];
    const ssize_t got = recv(socket.get(), answer, sizeof answer, 0);
    if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))) return EIO;
    return -static_cast<nlmsgerr*>(NLMSG_DATA(reinterpret_cast<nlmsghdr*>(answer)))->error;
  }

 private:
  template <class T>
  T* append() {
    T* at = reinterpret_cast<T*>(bytes_ + size_);
    size_ += NLMSG_ALIGN(sizeof(T));
    return at;
  }

  alignas(nlmsghdr) char bytes_[512] = {};
  std::size_t size_ = 0;
};

int make_veth_pair(const std::string& name, const std::string& peer) {
  Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  request.add(IFLA_IFNAME, name);
  const std::size_t info = request.begin(IFLA_LINKINFO);
  request.add(IFLA_INFO_KIND, "veth");
  const std::size_t data = request.begin(IFLA_INFO_DATA);
  const std::size_t other = request.begin(VETH_INFO_PEER);
  request.add_interface_header();
  request.add(IFLA_IFNAME, peer);
  request.end(other);
  request.end(data);
  request.end(info);
  return request.send();
}

ifreq request_for(const std::string& name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  return request;
}

void bring_up(int socket, const std::string& name) {
  ifreq request = request_for(name);
  if (ioctl(socket, SIOCGIFFLAGS, &request) != 0) {
    throw base::errno_error(errno, "no interface " + name);
  }
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  if (ioctl(socket, SIOCSIFFLAGS, &request) != 0) {
    throw base::errno_error(errno, "cannot bring up " + name);
  }
}

void set_address(int socket, const std::string& name, unsigned long what, const char* text) {
  ifreq request = request_for(name);
  auto* address = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  address->sin_family = AF_INET;
  inet_pton(AF_INET, text, &address->sin_addr);
  if (ioctl(socket, what, &request) != 0) {
    throw base::errno_error(errno, "cannot set the address of " + name);
  }
}

// Another address of the interface. Without it programs are told another one.
void add_address(int socket, const std::string& interface, const char* address,
                 std::vector<std::string>& notes) {
  const std::string label = interface + ":keys";
  try {
    set_address(socket, label, SIOCSIFADDR, address);
    set_address(socket, label, SIOCSIFNETMASK, "255.255.255.255");
  } catch (const base::Error& error) {
    notes.push_back(std::string("no ") + address + " inside: " + error.what());
  }
}

}  // namespace

void set_up_gang_network(std::vector<std::string>& notes) {
  const base::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) throw base::errno_error(errno, "cannot make a socket");
  bring_up(socket.get(), "lo");
  add_address(socket.get(), "lo", kCredentialAddress, notes);
  if (const int reason = make_veth_pair("eth0", "eth0-peer"); reason != 0) {
    notes.push_back("no eth0 inside: the kernel refused a veth pair (" +
                    std::string(strerror(reason)) + ")");
    return;
  }
  set_address(socket.get(), "eth0", SIOCSIFADDR, kAddress);
  set_address(socket.get(), "eth0", SIOCSIFNETMASK, kNetmask);
  bring_up(socket.get(), "eth0-peer");
  bring_up(socket.get(), "eth0");
}

}  // namespace meridian::run
