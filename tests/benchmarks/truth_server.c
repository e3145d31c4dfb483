// A streaming server of known truth, for bench.py: OpenAI's chat completions, one thread, epoll, one send() per event.
// It writes down when each event was really sent, by CLOCK_MONOTONIC, the clock of time.perf_counter_ns on Linux.
// Arguments: port, TTFT in us, ITL in us, tokens, events per send, role, log, [us to an early role], [tokens per event].
// role: 0 none, 1 in the first token's send, 2 early. The log, per request, in native 64-bit words: id, accepted,
// received, role sent, done, n, requests on the connection, 0, and n times at which a token was sent.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <stdint.h>
#include <unistd.h>
#include <errno.h>
#include <time.h>
#include <signal.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#define MAXT 1024
typedef struct conn { int fd; char*in; size_t inl,inc; int state; // 0 idle 1 streaming
 uint64_t accept_ns, recv_ns, due; int k; int nt; int usage; int hp; int roled; int64_t rid; uint64_t snd[MAXT]; uint64_t role_ns, done_ns;
 char*out; size_t outl,outo,outc; int wr; int ptok; uint64_t nreq; int chat; } conn;
static int port,ttft_us,itl_us,ntok,batch=1,rolem=1,slowrole=1000,tpc=1; static FILE*lf; static int ep; static conn**heap; static int hn,hc;
static volatile sig_atomic_t stop; static void onsig(int s){(void)s;stop=1;}
static inline uint64_t now(){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec*1000000000ull+t.tv_nsec;}
static void hset(int i,conn*c){heap[i]=c;c->hp=i;}
static void up(int i){conn*c=heap[i];while(i>0){int p=(i-1)/2;if(heap[p]->due<=c->due)break;hset(i,heap[p]);i=p;}hset(i,c);}
static void down(int i){conn*c=heap[i];for(;;){int l=2*i+1;if(l>=hn)break;if(l+1<hn&&heap[l+1]->due<heap[l]->due)l++;if(heap[l]->due>=c->due)break;hset(i,heap[l]);i=l;}hset(i,c);}
static void hadd(conn*c){if(hn==hc){hc=hc?hc*2:64;heap=realloc(heap,hc*sizeof*heap);}heap[hn]=c;c->hp=hn;hn++;up(hn-1);}
static void hdel(conn*c){int i=c->hp;if(i<0)return;conn*l=heap[--hn];c->hp=-1;if(l!=c){hset(i,l);down(i);up(l->hp);}}
static void mod(conn*c,int wr){if(c->wr==wr)return;struct epoll_event e={.events=EPOLLIN|(wr?EPOLLOUT:0),.data.ptr=c};epoll_ctl(ep,EPOLL_CTL_MOD,c->fd,&e);c->wr=wr;}
static void cclose(conn*c){if(c->hp>=0)hdel(c);close(c->fd);free(c->in);free(c->out);free(c);}
static void put(conn*c,const char*b,size_t n){if(c->outl+n>c->outc){c->outc=(c->outl+n)*2+4096;c->out=realloc(c->out,c->outc);}memcpy(c->out+c->outl,b,n);c->outl+=n;}
static int flush_(conn*c){while(c->outo<c->outl){ssize_t r=send(c->fd,c->out+c->outo,c->outl-c->outo,MSG_NOSIGNAL);if(r<0){if(errno==EAGAIN){mod(c,1);return 1;}return -1;}c->outo+=r;}c->outl=c->outo=0;mod(c,0);return 0;}
static void chunk(conn*c,const char*b,int n){char h[16];int m=snprintf(h,16,"%x\r\n",n);put(c,h,m);put(c,b,n);put(c,"\r\n",2);}
static const char HDR[]="HTTP/1.1 200 OK\r\nserver: truth\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
static const char*ID="chatcmpl-0123456789abcdef0123456789abcdef";
static void role(conn*c){char b[512];if(!c->chat)return;int n=snprintf(b,512,"data: {\"id\":\"%s\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n",ID);chunk(c,b,n);}
static void tok(conn*c,int k,int last){char b[900];char t[256];int o=0;for(int i=0;i<tpc;i++)o+=snprintf(t+o,256-o," w%d",(k*tpc+i)%1000);
 int n;if(c->chat)n=snprintf(b,900,"data: {\"id\":\"%s\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"logprobs\":null,\"finish_reason\":%s}]}\n\n",ID,t,last?"\"length\"":"null");
 else n=snprintf(b,900,"data: {\"id\":\"%s\",\"object\":\"text_completion\",\"created\":1700000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"text\":\"%s\",\"logprobs\":null,\"finish_reason\":%s}]}\n\n",ID,t,last?"\"length\"":"null");
 chunk(c,b,n);}
static void fin(conn*c){char b[512];if(c->usage){int n=snprintf(b,512,"data: {\"id\":\"%s\",\"object\":\"%s\",\"created\":1700000000,\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"total_tokens\":%d,\"completion_tokens\":%d}}\n\n",ID,c->chat?"chat.completion.chunk":"text_completion",c->ptok,c->ptok+c->nt*tpc,c->nt*tpc);chunk(c,b,n);}
 chunk(c,"data: [DONE]\n\n",14);put(c,"0\r\n\r\n",5);}
static int parse(conn*c);
static void logreq(conn*c){if(!lf)return;uint64_t h[8]={(uint64_t)c->rid,c->accept_ns,c->recv_ns,c->role_ns,c->done_ns,(uint64_t)c->nt,c->nreq,0};fwrite(h,8,8,lf);fwrite(c->snd,8,c->nt,lf);}
static int step(conn*c){ // send due; returns -1 closed
 if(!c->roled){c->roled=1;put(c,HDR,sizeof HDR-1);if(rolem){role(c);c->role_ns=now();}
  if(rolem==2){c->due=c->recv_ns+ttft_us*1000ull;down(c->hp);up(c->hp);return flush_(c)<0?-1:0;}}
 int b=batch;uint64_t t=now();while(b-->0&&c->k<c->nt){c->snd[c->k]=t;tok(c,c->k,c->k==c->nt-1);c->k++;}
 if(c->k>=c->nt){fin(c);c->done_ns=t;logreq(c);c->state=0;hdel(c);if(flush_(c)<0)return -1;return c->inl?parse(c):0;}
 if(itl_us==0)c->due=t;else c->due=c->recv_ns+ttft_us*1000ull+(uint64_t)c->k*itl_us*1000ull;down(c->hp);up(c->hp);
 int f=flush_(c);if(f<0)return -1;if(f==1&&itl_us==0)hdel(c);/*re-added on EPOLLOUT*/return 0;}
static void simple(conn*c,const char*body){char h[256];int n=snprintf(h,256,"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n",strlen(body));put(c,h,n);put(c,body,strlen(body));}
static int jint(const char*b,const char*key){const char*p=strstr(b,key);if(!p)return -1;p+=strlen(key);while(*p==' '||*p==':'||*p=='"')p++;return (*p>='0'&&*p<='9')?atoi(p):-1;}
static int parse(conn*c){
 if(c->state)return 0;c->in[c->inl]=0;char*e=strstr(c->in,"\r\n\r\n");if(!e)return 0;*e=0;size_t hl=e-c->in+4;size_t cl=0;char*p=strcasestr(c->in,"\r\ncontent-length:");if(p)cl=strtoul(p+17,0,10);
 if(strcasestr(c->in,"\r\nexpect: 100")&&c->inl==hl)put(c,"HTTP/1.1 100 Continue\r\n\r\n",25),flush_(c);
 if(c->inl<hl+cl){*e='\r';return 0;}
 c->recv_ns=now();c->nreq++;c->rid=-1;p=strcasestr(c->in,"\r\nx-req:");if(p)c->rid=atoll(p+8);
 char*body=c->in+hl;char sv=body[cl];body[cl]=0;int post=!strncmp(c->in,"POST",4);
 int r=0;if(!post){if(strstr(c->in,"/models"))simple(c,"{\"object\":\"list\",\"data\":[{\"id\":\"m\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"x\",\"root\":\"m\",\"max_model_len\":32768}]}");else simple(c,"{}");if(flush_(c)<0)r=-1;}
 else{c->chat=!!strstr(c->in,"/chat/");int st=strstr(body,"\"stream\": true")||strstr(body,"\"stream\":true");c->usage=!!(strstr(body,"\"include_usage\": true")||strstr(body,"\"include_usage\":true"));
  int w=0;for(char*q=body;*q;q++)w+=*q==' ';c->ptok=w;
  int m=ntok;if(m==0){m=jint(body,"\"max_completion_tokens\"");if(m<0)m=jint(body,"\"max_tokens\"");if(m<=0)m=16;}m/=tpc;if(m<1)m=1;if(m>MAXT)m=MAXT;c->nt=m;c->k=0;c->roled=0;c->role_ns=0;
  if(getenv("DUMP")){fprintf(stderr,"%s\n---\n%.600s\n====\n",c->in,body);}
  if(!st){simple(c,"{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"pong\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":4,\"total_tokens\":5,\"completion_tokens\":1}}");if(flush_(c)<0)r=-1;}
  else{c->state=1;c->due=c->recv_ns+(rolem==2?slowrole:ttft_us)*1000ull;hadd(c);}}
 body[cl]=sv;memmove(c->in,c->in+hl+cl,c->inl-hl-cl);c->inl-=hl+cl;if(r<0)return -1;if(!c->state&&c->inl)return parse(c);return 0;}
int main(int ac,char**av){if(ac<8){return 2;}port=atoi(av[1]);ttft_us=atoi(av[2]);itl_us=atoi(av[3]);ntok=atoi(av[4]);batch=atoi(av[5]);rolem=atoi(av[6]);lf=strcmp(av[7],"-")?fopen(av[7],"wb"):0;if(ac>8)slowrole=atoi(av[8]);if(ac>9)tpc=atoi(av[9]);
 if(lf)setvbuf(lf,0,_IOFBF,1<<20);prctl(PR_SET_TIMERSLACK,1);signal(SIGTERM,onsig);signal(SIGINT,onsig);
 int s=socket(AF_INET,SOCK_STREAM|SOCK_NONBLOCK,0),one=1;setsockopt(s,SOL_SOCKET,SO_REUSEADDR,&one,4);struct sockaddr_in a={.sin_family=AF_INET,.sin_port=htons(port),.sin_addr.s_addr=htonl(INADDR_LOOPBACK)};if(bind(s,(void*)&a,sizeof a)||listen(s,4096)){perror("bind");return 1;}
 ep=epoll_create1(0);struct epoll_event e={.events=EPOLLIN,.data.ptr=0};epoll_ctl(ep,EPOLL_CTL_ADD,s,&e);struct epoll_event ev[512];
 while(!stop){struct timespec ts,*tp=0;if(hn){uint64_t n=now();uint64_t d=heap[0]->due>n?heap[0]->due-n:0;ts.tv_sec=d/1000000000;ts.tv_nsec=d%1000000000;tp=&ts;}
  int n=syscall(SYS_epoll_pwait2,ep,ev,512,tp,NULL,0);if(n<0&&errno!=EINTR){perror("epoll");return 1;}
  for(int i=0;i<n;i++){conn*c=ev[i].data.ptr;if(!c){int f;while((f=accept4(s,0,0,SOCK_NONBLOCK))>=0){setsockopt(f,IPPROTO_TCP,TCP_NODELAY,&one,4);conn*x=calloc(1,sizeof*x);x->fd=f;x->hp=-1;x->accept_ns=now();x->inc=65536;x->in=malloc(x->inc+1);struct epoll_event q={.events=EPOLLIN,.data.ptr=x};epoll_ctl(ep,EPOLL_CTL_ADD,f,&q);}continue;}
   if(ev[i].events&EPOLLOUT){int f=flush_(c);if(f<0){cclose(c);continue;}if(f==0&&c->state&&c->hp<0){c->due=now();hadd(c);}}
   if(ev[i].events&(EPOLLIN|EPOLLHUP|EPOLLERR)){int dead=0;for(;;){if(c->inl==c->inc){c->inc*=2;c->in=realloc(c->in,c->inc+1);}ssize_t r=recv(c->fd,c->in+c->inl,c->inc-c->inl,0);if(r==0){dead=1;break;}if(r<0){if(errno!=EAGAIN)dead=1;break;}c->inl+=r;}
    if(dead||parse(c)<0){cclose(c);continue;}}}
  uint64_t t=now();int lim=1024;while(hn&&heap[0]->due<=t&&lim-->0){conn*c=heap[0];if(step(c)<0)cclose(c);}
 }
 if(lf)fclose(lf);return 0;}
